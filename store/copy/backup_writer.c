/* SPDX-License-Identifier: Apache-2.0 */
#include "store/copy/backup_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/core/clock.h"
#include "base/core/memory.h"
#include "base/core/random.h"
#include "base/json/json.h"
#include "store/copy/copy_side.h"

/* ---- Signals ---- */

/* Returns SIGHUP, SIGINT and SIGTERM without those that the process ignores: once blocked, even
 * ignored signals would become pending, and check_signals would stop the backup. */
static sigset_t ending_signals(void)
{
    static const int all[] = { SIGHUP, SIGINT, SIGTERM };
    struct sigaction action;
    sigset_t out;

    sigemptyset(&out);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (sigaction(all[i], NULL, &action) == 0 && action.sa_handler != SIG_IGN)
            sigaddset(&out, all[i]);
    return out;
}

static CHECKED bool check_signals(const struct backup_writer *writer, struct error *error)
{
    sigset_t pending, ending = ending_signals();

    sigpending(&pending);
    sigandset(&pending, &pending, &ending);
    return sigisemptyset(&pending)
           || error_set(error, ERROR_CANCELLED,
                        "the backup was interrupted: %.200s was not written", writer->file.path);
}

/* ---- Pieces ---- */

static CHECKED bool write_piece(struct backup_writer *writer, char kind, const void *bytes,
                                size_t length, struct error *error)
{
    return check_signals(writer, error)
           && backup_file_write(&writer->file, kind, bytes, length, error);
}

static CHECKED bool write_document(struct backup_writer *writer, const char *engine,
                                   struct error *error)
{
    char id[ID_SIZE], made[CLOCK_TEXT_SIZE];
    int64_t versions[COPY_SETS];

    random_id("bak", id);
    copy_side_versions(versions);
    json_auto_t *document =
        json_pack("{s:s, s:s, s:s, s:s, s:I, s:I}", "id", id, "opsbrain", OPSBRAIN_VERSION, "made",
                  clock_format_utc(clock_utc_ms(), made), "engine", engine, "main",
                  (json_int_t)versions[COPY_MAIN], "scrapes", (json_int_t)versions[COPY_SCRAPES]);
    FREE_AUTO char *json = json_write(document);

    return write_piece(writer, 'd', json, strlen(json), error);
}

static CHECKED bool write_rows(void *context, size_t table, const struct text *rows,
                               struct error *error)
{
    struct backup_writer *writer = context;

    (void)table;
    return write_piece(writer, 'r', rows->data, rows->length, error);
}

static CHECKED bool end_table(void *context, size_t table, const struct copy_tally *tally,
                              struct error *error)
{
    struct backup_writer *writer = context;
    uint64_t rows = htobe64((uint64_t)tally->rows);
    uint8_t bytes[sizeof rows + DIGEST_BYTES];

    (void)table;
    memcpy(bytes, &rows, sizeof rows);
    memcpy(bytes + sizeof rows, tally->digest, DIGEST_BYTES);
    text_add_bytes(&writer->digests, (const char *)tally->digest, DIGEST_BYTES);
    return write_piece(writer, 't', bytes, sizeof bytes, error);
}

struct copy_sink backup_writer_sink(struct backup_writer *writer)
{
    return (struct copy_sink){ writer, write_rows, end_table };
}

/* ---- The file ---- */

static CHECKED bool refuse_existing(const char *path, struct error *error)
{
    return error_set(error, ERROR_CONFLICT,
                     "there is already a file %.200s: choose another name, or remove it", path);
}

static CHECKED bool report_failed_write(const char *path, struct error *error)
{
    return error_set(error, errno == ENOSPC ? ERROR_BUSY : ERROR_INVALID,
                     "%.200s cannot be written: %s", path, strerror(errno));
}

/* Creates the temporary file, with mode 0600. */
static CHECKED bool create(struct backup_writer *writer, struct error *error)
{
    TEXT_AUTO name = { 0 };
    int file;

    if (faccessat(AT_FDCWD, writer->file.path, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
        return refuse_existing(writer->file.path, error);
    text_addf(&name, "%s.XXXXXX", writer->file.path);
    file = mkostemp(name.data, O_CLOEXEC);
    if (file < 0)
        return report_failed_write(writer->file.path, error);
    writer->temporary = text_take(&name);
    writer->file.stream = fdopen(file, "w");
    if (writer->file.stream != NULL)
        return true;
    close(file);
    return report_failed_write(writer->file.path, error);
}

bool backup_writer_begin(const char *path, const char *key_path, const char *engine,
                         struct backup_writer *out, struct error *error)
{
    const sigset_t ending = ending_signals();

    *out = (struct backup_writer){ .file = { .path = path } };
    pthread_sigmask(SIG_BLOCK, &ending, &out->mask_before);
    if (create(out, error) && backup_file_begin(&out->file, key_path, error)
        && write_document(out, engine, error))
        return true;
    backup_writer_finish(out);
    return false;
}

/* Syncs the folder, so that the file's name survives a crash, too. */
static CHECKED bool sync_folder(const char *path, struct error *error)
{
    FREE_AUTO char *copy = memory_copy_text(path);
    int folder = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    /* EINVAL: folders on this file system cannot be synced. */
    bool done = folder >= 0 && (fsync(folder) == 0 || errno == EINVAL);

    if (folder >= 0)
        close(folder);
    return done || report_failed_write(path, error);
}

/* For file systems that cannot rename without replacing, such as NFS: an empty file reserves the
 * name first. */
static bool reserve_and_rename(const char *temporary, const char *path)
{
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600), reason;

    if (file < 0)
        return false;
    close(file);
    if (rename(temporary, path) == 0)
        return true;
    reason = errno;
    unlink(path);
    errno = reason;
    return false;
}

static bool rename_new(const char *temporary, const char *path)
{
    return renameat2(AT_FDCWD, temporary, AT_FDCWD, path, RENAME_NOREPLACE) == 0
           || (errno == EINVAL && reserve_and_rename(temporary, path));
}

static CHECKED bool publish(struct backup_writer *writer, struct error *error)
{
    const char *path = writer->file.path;

    if (fflush(writer->file.stream) != 0 || fsync(fileno(writer->file.stream)) != 0)
        return report_failed_write(path, error);
    if (!rename_new(writer->temporary, path))
        return errno == EEXIST ? refuse_existing(path, error) : report_failed_write(path, error);
    free(writer->temporary);
    writer->temporary = NULL;
    return sync_folder(path, error);
}

bool backup_writer_end(struct backup_writer *writer, struct error *error)
{
    uint8_t digest[DIGEST_BYTES];

    digest_sha256(writer->digests.data, writer->digests.length, digest);
    return write_piece(writer, 'e', digest, sizeof digest, error) && publish(writer, error);
}

void backup_writer_finish(struct backup_writer *writer)
{
    if (writer->file.stream != NULL)
        fclose(writer->file.stream); /* everything that matters is already flushed */
    if (writer->temporary != NULL)
        unlink(writer->temporary);
    free(writer->temporary);
    text_finish(&writer->digests);
    explicit_bzero(writer->file.key, sizeof writer->file.key);
    pthread_sigmask(SIG_SETMASK, &writer->mask_before, NULL);
}
