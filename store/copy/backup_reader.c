/* SPDX-License-Identifier: Apache-2.0 */
#include "store/copy/backup_reader.h"

#include <errno.h>
#include <string.h>

#include "base/json/json.h"
#include "store/copy/copy_side.h"

#define DOCUMENT_MAX 4096 /* in bytes; small, because JSON takes much more memory once parsed */

/* ---- The document ---- */

static CHECKED bool refuse_document(const struct backup_reader *reader, struct error *error)
{
    return error_set(error, ERROR_INVALID,
                     "%.200s is damaged: its header is not valid; use another backup",
                     reader->file.path);
}

static CHECKED bool check_versions(const struct backup_reader *reader, struct error *error)
{
    int64_t ours[COPY_SETS];

    copy_side_versions(ours);
    for (int set = 0; set < COPY_SETS; set++) {
        int64_t version = reader->document.versions[set];

        if (version < 1)
            return refuse_document(reader, error);
        if (version > ours[set])
            return error_set(
                error, ERROR_CONFLICT,
                "%.200s contains a database of version %lld, but this opsbrain supports up "
                "to %lld: run a newer opsbrain",
                reader->file.path, (long long)version, (long long)ours[set]);
    }
    return true;
}

static CHECKED bool read_document(struct backup_reader *reader, struct error *error)
{
    json_auto_t *document = NULL;
    TEXT_AUTO piece = { 0 };
    struct error ignored; /* the JSON error, which means that the file is damaged */

    if (!backup_file_read(&reader->file, &piece, error))
        return false;
    if (piece.data[0] != 'd' || piece.length > DOCUMENT_MAX
        || !json_parse(piece.data + 1, piece.length - 1, &document, &ignored)
        || !text_is_name(json_get_text(document, "id", "")))
        return refuse_document(reader, error);
    text_copy(reader->document.id, sizeof reader->document.id, json_get_text(document, "id", ""));
    reader->document.versions[COPY_MAIN] = json_get_integer(document, "main", 0);
    reader->document.versions[COPY_SCRAPES] = json_get_integer(document, "scrapes", 0);
    return check_versions(reader, error);
}

static CHECKED bool go_to_start(const struct backup_reader *reader, struct error *error)
{
    return fseek(reader->file.stream, 0, SEEK_SET) == 0
           || error_set(error, ERROR_INVALID,
                        "%.200s cannot be read twice (%s), but restoring reads it twice: write it "
                        "to a file first",
                        reader->file.path, strerror(errno));
}

bool backup_reader_open(const char *path, const char *key_path, struct backup_reader *out,
                        struct error *error)
{
    *out = (struct backup_reader){ .file = { .path = path, .stream = fopen(path, "re") } };
    if (out->file.stream == NULL)
        return error_set(error, ERROR_INVALID, "%.200s cannot be read: %s", path, strerror(errno));
    if (go_to_start(out, error) && backup_file_open(&out->file, key_path, error)
        && read_document(out, error))
        return true;
    backup_reader_close(out);
    return false;
}

bool backup_reader_rewind(struct backup_reader *reader, const char *key_path, struct error *error)
{
    const struct backup_document before = reader->document;

    reader->file.pieces = 0;
    reader->file.bytes = 0;
    if (!go_to_start(reader, error) || !backup_file_open(&reader->file, key_path, error)
        || !read_document(reader, error))
        return false;
    return memcmp(before.versions, reader->document.versions, sizeof before.versions) == 0
           || refuse_document(reader, error);
}

void backup_reader_close(struct backup_reader *reader)
{
    if (reader->file.stream != NULL)
        fclose(reader->file.stream);
    explicit_bzero(reader->file.key, sizeof reader->file.key);
}

/* ---- Rows ---- */

/* How far the file has been read. */
struct reading {
    struct backup_reader *reader;
    const struct copy_tables *tables;
    const struct copy_sink *sink;
    size_t table;            /* index of the current table in `tables` */
    struct copy_tally tally; /* of the current table */
    struct text digests;     /* of the earlier tables */
    int64_t rows;            /* in the earlier tables */
};

static CHECKED bool refuse_disordered(const struct reading *reading, struct error *error)
{
    return error_set(
        error, ERROR_INVALID,
        "%.200s is damaged before byte %lld: its rows do not match its record of them; "
        "use another backup",
        reading->reader->file.path, (long long)reading->reader->file.bytes);
}

static CHECKED bool count_rows(struct reading *reading, const struct text *rows,
                               struct error *error)
{
    const uint8_t *at = (const uint8_t *)rows->data, *end = at + rows->length, *before;
    struct sql_value values[COPY_COLUMNS_MAX];
    struct error ignored; /* only names the invalid column */

    while (at < end) {
        before = at;
        if (!copy_rows_read(reading->tables->list[reading->table].schema, &at, end, values,
                            &ignored))
            return refuse_disordered(reading, error);
        copy_tally_add(&reading->tally, before, (size_t)(at - before));
    }
    return true;
}

static CHECKED bool read_rows(struct reading *reading, const struct text *rows, struct error *error)
{
    if (reading->table == reading->tables->count)
        return refuse_disordered(reading, error);
    return count_rows(reading, rows, error)
           && (reading->sink->receive == NULL
               || reading->sink->receive(reading->sink->context, reading->table, rows, error));
}

static CHECKED bool end_table(struct reading *reading, const struct text *body, struct error *error)
{
    const struct copy_tally *tally = &reading->tally;
    uint64_t rows = htobe64((uint64_t)tally->rows);

    if (reading->table == reading->tables->count || body->length != sizeof rows + DIGEST_BYTES
        || memcmp(body->data, &rows, sizeof rows) != 0
        || memcmp(body->data + sizeof rows, tally->digest, DIGEST_BYTES) != 0)
        return refuse_disordered(reading, error);
    text_add_bytes(&reading->digests, (const char *)tally->digest, DIGEST_BYTES);
    if (reading->sink->finish != NULL
        && !reading->sink->finish(reading->sink->context, reading->table, tally, error))
        return false;
    reading->rows += tally->rows;
    reading->tally = (struct copy_tally){ 0 };
    reading->table++;
    return true;
}

static CHECKED bool end_file(struct reading *reading, const struct text *body, struct error *error)
{
    uint8_t digest[DIGEST_BYTES];

    digest_sha256(reading->digests.data, reading->digests.length, digest);
    if (reading->table != reading->tables->count || body->length != DIGEST_BYTES
        || memcmp(body->data, digest, DIGEST_BYTES) != 0)
        return refuse_disordered(reading, error);
    return backup_file_end(&reading->reader->file, error);
}

/* *done: the piece was the last one. */
static CHECKED bool read_piece(struct reading *reading, bool *done, struct error *error)
{
    TEXT_AUTO piece = { 0 };

    if (!backup_file_read(&reading->reader->file, &piece, error))
        return false;
    const struct text body = { .data = piece.data + 1, .length = piece.length - 1 };
    *done = piece.data[0] == 'e';
    switch (piece.data[0]) {
    case 'r':
        return read_rows(reading, &body, error);
    case 't':
        return end_table(reading, &body, error);
    case 'e':
        return end_file(reading, &body, error);
    default:
        return refuse_disordered(reading, error);
    }
}

bool backup_reader_run(struct backup_reader *reader, const struct copy_tables *tables,
                       const struct copy_sink *sink, struct copy_report *out, struct error *error)
{
    struct reading reading = { .reader = reader, .tables = tables, .sink = sink };
    bool done = false, good = true;

    while (good && !done)
        good = read_piece(&reading, &done, error);
    text_finish(&reading.digests);
    if (good)
        *out = (struct copy_report){ (int64_t)tables->count, reading.rows, reader->file.bytes };
    return good;
}
