/* SPDX-License-Identifier: Apache-2.0 */
#include "store/copy/copy.h"

#include "store/copy/backup_reader.h"
#include "store/copy/backup_writer.h"
#include "store/copy/copy_target.h"

/* ---- Reading a database ---- */

/* Passes rows on to `sink`. Before each page of rows, announces that `source` is in use
 * (copy_side_keep). */
struct forwarding {
    const struct copy_sink *sink;
    struct copy_side *source;
};

static CHECKED bool forward(void *context, size_t table, const struct text *rows,
                            struct error *error)
{
    const struct forwarding *forwarding = context;

    return copy_side_keep(forwarding->source, error)
           && forwarding->sink->receive(forwarding->sink->context, table, rows, error);
}

static CHECKED bool read_database(struct copy_side *source, const struct copy_tables *tables,
                                  const struct copy_sink *sink, struct copy_report *out,
                                  struct error *error)
{
    struct forwarding forwarding = { sink, source };
    const struct copy_sink forwarder = { .context = &forwarding, .receive = forward };

    *out = (struct copy_report){ .tables = (int64_t)tables->count };
    for (size_t i = 0; i < tables->count; i++) {
        struct sql_connection *reader = source->readers[tables->list[i].set];
        struct copy_tally tally;

        if (!copy_table_read(reader, true, tables, i, &forwarder, &tally, error)
            || !copy_side_keep(source, error) || !sink->finish(sink->context, i, &tally, error))
            return false;
        out->rows += tally.rows;
    }
    return true;
}

/* ---- Writing a file ---- */

static CHECKED bool write_backup(struct copy_side *source, const struct copy_tables *tables,
                                 struct backup_writer *writer, struct copy_report *out,
                                 struct error *error)
{
    const struct copy_sink sink = backup_writer_sink(writer);
    struct copy_report report;

    if (!read_database(source, tables, &sink, &report, error) || !backup_writer_end(writer, error))
        return false;
    report.bytes = writer->file.bytes;
    *out = report;
    return true;
}

static CHECKED bool backup_source(struct copy_side *source, const char *path, const char *key_path,
                                  struct copy_report *out, struct error *error)
{
    struct copy_tables tables;
    struct backup_writer writer;
    int64_t versions[COPY_SETS];
    bool done;

    copy_side_versions(versions);
    if (!copy_tables_read(versions, &tables, error))
        return false;
    done = backup_writer_begin(path, key_path, source->engine->name, &writer, error);
    if (done) {
        done = write_backup(source, &tables, &writer, out, error);
        backup_writer_finish(&writer);
    }
    copy_tables_finish(&tables);
    return done;
}

bool copy_backup(const struct copy_place *from, const char *path, const char *key_path,
                 struct copy_report *out, struct error *error)
{
    struct copy_side source;
    bool done;

    if (!copy_side_open_source(from, false, &source, error))
        return false;
    done = backup_source(&source, path, key_path, out, error);
    copy_side_close(&source);
    return done;
}

/* ---- Writing a database ---- */

/* What is copied: a database (`source`) or a file (`reader`); the other member is NULL. */
struct origin {
    const char *name;        /* recorded in the target while the copy is unfinished */
    const int64_t *versions; /* the schema version of each set of tables */
    struct copy_side *source;
    struct backup_reader *reader;
};

/* While copy_target_end runs, nothing announces the use of the source: it has been read and
 * compared by then, so a process that begins to use it cannot change the copy. */
static CHECKED bool fill(const struct origin *origin, const struct copy_tables *tables,
                         struct copy_side *side, struct copy_report *out, struct error *error)
{
    struct copy_target target = { .side = side, .source = origin->source, .tables = tables };
    const struct copy_sink sink = copy_target_sink(&target);

    return (origin->source != NULL ? read_database(origin->source, tables, &sink, out, error)
                                   : backup_reader_run(origin->reader, tables, &sink, out, error))
           && copy_target_end(&target, error);
}

static CHECKED bool copy_into(const struct origin *origin, const struct copy_tables *tables,
                              const struct copy_place *to, struct copy_report *out,
                              struct error *error)
{
    struct copy_side target;
    bool done;

    if (!copy_side_open_target(to, origin->versions, tables, origin->name, &target, error))
        return false;
    done = fill(origin, tables, &target, out, error);
    copy_side_close(&target);
    return done;
}

bool copy_move(const struct copy_place *from, const struct copy_place *to, struct copy_report *out,
               struct error *error)
{
    int64_t versions[COPY_SETS];
    struct copy_tables tables;
    struct copy_side source;
    bool done;

    copy_side_versions(versions);
    if (!copy_side_open_source(from, true, &source, error))
        return false;
    const struct origin origin = { .name = source.name, .versions = versions, .source = &source };
    done = copy_tables_read(versions, &tables, error);
    if (done) {
        done = copy_into(&origin, &tables, to, out, error);
        copy_tables_finish(&tables);
    }
    copy_side_close(&source);
    return done;
}

/* Reads the file twice: first to verify it, then to copy it into the database. */
static CHECKED bool restore(struct backup_reader *reader, const char *key_path,
                            const struct copy_tables *tables, const struct copy_place *to,
                            struct copy_report *out, struct error *error)
{
    static const struct copy_sink nowhere = { 0 };
    TEXT_AUTO name = { 0 };

    text_addf(&name, "backup %s", reader->document.id);
    const struct origin origin = { .name = text_string(&name),
                                   .versions = reader->document.versions,
                                   .reader = reader };
    return backup_reader_run(reader, tables, &nowhere, out, error)
           && backup_reader_rewind(reader, key_path, error)
           && copy_into(&origin, tables, to, out, error);
}

bool copy_restore(const char *path, const char *key_path, const struct copy_place *to,
                  struct copy_report *out, struct error *error)
{
    struct copy_tables tables;
    struct backup_reader reader;
    bool done;

    if (!backup_reader_open(path, key_path, &reader, error))
        return false;
    done = copy_tables_read(reader.document.versions, &tables, error);
    if (done) {
        done = restore(&reader, key_path, &tables, to, out, error);
        copy_tables_finish(&tables);
    }
    backup_reader_close(&reader);
    return done;
}
