/* SPDX-License-Identifier: Apache-2.0 */
#include "store/engine/sqlite.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/core/memory.h"
#include "base/core/text.h"
#include "store/engine/sql.h"

#define BUSY_TIMEOUT_MS 5000
/* After a transaction, the write-ahead log is checkpointed if it has at least this many pages. */
#define CHECKPOINT_PAGES 1000     /* while no writes wait */
#define CHECKPOINT_PAGES_MAX 8000 /* while writes wait */
/* `shrink` gives pages back to the file system only if the file has more free pages than this. */
#define FREE_PAGES_KEPT 2048

struct sqlite_connection {
    struct sql_connection base;
    sqlite3 *db;
    int wal_pages; /* pages in the write-ahead log after the last commit; 0 after a checkpoint */
};

static struct sqlite_connection *sqlite_of(struct sql_connection *connection)
{
    return (struct sqlite_connection *)connection;
}

sqlite3 *sqlite_handle(struct sql_connection *connection)
{
    return sqlite_of(connection)->db;
}

/* ---- Errors ---- */

/* Returns the errno behind an I/O error. sqlite3_system_errno does not have the errno of a failed
 * commit; it is then read from the open files, first the write-ahead log, then the database. */
static int system_cause(sqlite3 *db)
{
    int cause = sqlite3_system_errno(db);
    sqlite3_file *wal = NULL;

    if (cause == 0
        && sqlite3_file_control(db, "main", SQLITE_FCNTL_JOURNAL_POINTER, &wal) == SQLITE_OK
        && wal != NULL && wal->pMethods != NULL)
        wal->pMethods->xFileControl(wal, SQLITE_FCNTL_LAST_ERRNO, &cause);
    if (cause == 0)
        sqlite3_file_control(db, "main", SQLITE_FCNTL_LAST_ERRNO, &cause);
    return cause;
}

/* sqlite3 reports a full disk as FULL, or as an I/O error with one of these causes. */
static bool disk_is_full(int code, int cause)
{
    return code == SQLITE_FULL
           || (code == SQLITE_IOERR && (cause == ENOSPC || cause == EDQUOT || cause == EFBIG));
}

/* Explains sqlite3's latest error and, for the usual problems, says what to do about it. */
static CHECKED bool explain(struct sql_connection *connection, struct error *error)
{
    sqlite3 *db = sqlite_handle(connection);
    int code = sqlite3_errcode(db) & 0xff;
    int cause = code == SQLITE_IOERR ? system_cause(db) : 0;
    const char *path = connection->place;

    if (disk_is_full(code, cause))
        return error_set(error, ERROR_BUSY,
                         "the disk of the data folder is full: nothing can be stored; free some "
                         "space and try again");
    if (code == SQLITE_BUSY || code == SQLITE_LOCKED)
        return error_set(error, ERROR_BUSY,
                         "the database is locked by another program (for example a sqlite3 shell): "
                         "end that program and try again");
    if (code == SQLITE_CORRUPT || code == SQLITE_NOTADB)
        return error_set(error, ERROR_INTERNAL,
                         "database %s is corrupt (%s): stop opsbrain and restore the file from a "
                         "backup",
                         path, sqlite3_errmsg(db));
    if (code == SQLITE_READONLY || code == SQLITE_CANTOPEN || code == SQLITE_PERM
        || code == SQLITE_AUTH)
        return error_set(
            error, ERROR_INTERNAL,
            "database %s cannot be written (%s): make the file and its folder writable "
            "for the user that runs opsbrain",
            path, sqlite3_errmsg(db));
    if (code == SQLITE_IOERR)
        return error_set(error, ERROR_INTERNAL,
                         "database %s: the disk reported an error (%s, code %d): check the disk",
                         path, cause != 0 ? strerror(cause) : sqlite3_errmsg(db),
                         sqlite3_extended_errcode(db));
    return error_set(error, ERROR_INTERNAL, "database %s: %s (code %d)", path, sqlite3_errmsg(db),
                     sqlite3_extended_errcode(db));
}

/* ---- Connections ---- */

static int note_wal(void *context, sqlite3 *db, const char *name, int pages)
{
    struct sqlite_connection *connection = context;

    (void)db;
    (void)name;
    connection->wal_pages = pages;
    return SQLITE_OK;
}

/* Creates a missing file with mode 0600: sqlite3 would make it readable by everyone. */
static CHECKED bool create_file(const char *path, struct error *error)
{
    int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

    if (file < 0)
        return error_set(error, errno == ENOSPC ? ERROR_BUSY : ERROR_INTERNAL,
                         "database %s cannot be opened: %s", path, strerror(errno));
    close(file);
    return true;
}

static void octet_length(sqlite3_context *context, int count, sqlite3_value **values)
{
    (void)count;
    if (sqlite3_value_type(values[0]) != SQLITE_NULL)
        sqlite3_result_int(context, sqlite3_value_bytes(values[0]));
}

/* Adds octet_length, which is standard SQL, but is built into sqlite3 only since 3.43. */
static int add_functions(sqlite3 *db)
{
    if (sqlite3_libversion_number() >= 3043000)
        return SQLITE_OK;
    return sqlite3_create_function(db, "octet_length", 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC, NULL,
                                   octet_length, NULL, NULL);
}

static CHECKED bool open_file(struct sqlite_connection *connection, enum sql_connection_kind kind,
                              struct error *error)
{
    static const char reader[] = "PRAGMA query_only = ON; PRAGMA temp_store = MEMORY;";
    static const char writer[] = "PRAGMA foreign_keys = ON; PRAGMA temp_store = MEMORY;"
                                 "PRAGMA synchronous = FULL; PRAGMA journal_size_limit = 67108864;";

    if (sqlite3_open_v2(connection->base.place, &connection->db,
                        SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL)
            != SQLITE_OK
        || sqlite3_busy_timeout(connection->db, BUSY_TIMEOUT_MS) != SQLITE_OK
        || add_functions(connection->db) != SQLITE_OK)
        return explain(&connection->base, error);
    if (kind == SQL_CONNECTION_WRITER)
        sqlite3_wal_hook(connection->db, note_wal, connection);
    return sqlite_run(&connection->base, kind == SQL_CONNECTION_WRITER ? writer : reader, error);
}

static void close_connection(struct sql_connection *connection)
{
    sqlite3_close(sqlite_handle(connection));
    free(connection->place);
    free(connection);
}

static CHECKED bool open_connection(const char *place, enum sql_connection_kind kind,
                                    struct sql_connection **out, struct error *error)
{
    struct sqlite_connection *connection;

    if (kind == SQL_CONNECTION_WRITER && !create_file(place, error))
        return false;
    connection = memory_zeroed(1, sizeof *connection);
    connection->base =
        (struct sql_connection){ .engine = &sqlite_engine, .place = memory_copy_text(place) };
    if (!open_file(connection, kind, error)) {
        close_connection(&connection->base);
        return false;
    }
    *out = &connection->base;
    return true;
}

bool sqlite_run(struct sql_connection *connection, const char *script, struct error *error)
{
    return sqlite3_exec(sqlite_handle(connection), script, NULL, NULL, NULL) == SQLITE_OK
           || explain(connection, error);
}

static bool in_transaction(struct sql_connection *connection)
{
    return sqlite3_get_autocommit(sqlite_handle(connection)) == 0;
}

/* ---- Statements ---- */

static sqlite3_stmt *stmt_of(struct sql_statement *statement)
{
    return (sqlite3_stmt *)statement;
}

static struct sql_statement *prepare(struct sql_connection *connection, const char *text,
                                     bool is_kept)
{
    sqlite3_stmt *statement = NULL;

    sqlite3_prepare_v3(sqlite_handle(connection), text, -1, is_kept ? SQLITE_PREPARE_PERSISTENT : 0,
                       &statement, NULL);
    return (struct sql_statement *)statement;
}

static void finish(struct sql_statement *statement)
{
    sqlite3_finalize(stmt_of(statement));
}

static int bind_value(sqlite3_stmt *statement, int position, const struct sql_value *value)
{
    switch (value->type) {
    case SQL_INTEGER:
        return sqlite3_bind_int64(statement, position, value->integer);
    case SQL_REAL:
        return sqlite3_bind_double(statement, position, value->real); /* binds NULL for a NaN */
    case SQL_TEXT:
        return sqlite3_bind_text64(statement, position, value->bytes, value->length, SQLITE_STATIC,
                                   SQLITE_UTF8);
    case SQL_BLOB:
        return sqlite3_bind_blob64(statement, position, value->bytes, value->length, SQLITE_STATIC);
    }
    return SQLITE_MISUSE;
}

static bool bind_at(struct sql_statement *statement, int position, const struct sql_value *value)
{
    return bind_value(stmt_of(statement), position, value) == SQLITE_OK;
}

static enum sql_step step(struct sql_statement *statement)
{
    int status = sqlite3_step(stmt_of(statement));

    if (status == SQLITE_ROW)
        return SQL_ROW;
    return status == SQLITE_DONE ? SQL_DONE : SQL_FAILED;
}

static void reset(struct sql_statement *statement)
{
    sqlite3_reset(stmt_of(statement));
    sqlite3_clear_bindings(stmt_of(statement));
}

static bool column_is_null(struct sql_statement *statement, int column)
{
    return sqlite3_column_type(stmt_of(statement), column) == SQLITE_NULL;
}

static int64_t column_integer(struct sql_statement *statement, int column)
{
    return sqlite3_column_int64(stmt_of(statement), column);
}

static double column_real(struct sql_statement *statement, int column)
{
    return sqlite3_column_double(stmt_of(statement), column);
}

static const char *column_text(struct sql_statement *statement, int column)
{
    return (const char *)sqlite3_column_text(stmt_of(statement), column);
}

static const void *column_blob(struct sql_statement *statement, int column, size_t *length)
{
    const void *data = sqlite3_column_blob(stmt_of(statement), column);

    *length = (size_t)sqlite3_column_bytes(stmt_of(statement), column);
    return data;
}

static CHECKED bool has_table(struct sql_connection *connection, const char *name, bool *found,
                              struct error *error)
{
    SQL_AUTO sql =
        sql_begin(connection, "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?1");

    sql_bind_text(&sql, 1, name);
    return sql_find(&sql, found, error);
}

static CHECKED bool begin_writing(struct sql_connection *writer, struct error *error)
{
    return sql_connection_run(writer, "BEGIN IMMEDIATE", error);
}

static CHECKED bool commit(struct sql_connection *writer, struct error *error)
{
    return sql_connection_run(writer, "COMMIT", error);
}

/* Always returns false: sqlite3 has already waited for other programs (BUSY_TIMEOUT_MS), and a full
 * disk stays full for a while. */
static bool may_repeat(struct sql_connection *writer)
{
    (void)writer;
    return false;
}

static int64_t changes(struct sql_connection *connection)
{
    return sqlite3_changes64(sqlite_handle(connection));
}

/* ---- The database's files ---- */

static void checkpoint(struct sql_connection *writer, int mode)
{
    sqlite_of(writer)->wal_pages = 0;
    sqlite3_wal_checkpoint_v2(sqlite_handle(writer), NULL, mode, NULL, NULL);
}

/* Keeps sqlite3 from deleting the file at the WAL's path when the last connection is closed: that
 * file might be another server's. */
static void keep_wal(struct sql_connection *writer)
{
    int on = 1;

    sqlite3_file_control(sqlite_handle(writer), "main", SQLITE_FCNTL_PERSIST_WAL, &on);
}

static void upkeep(struct sql_connection *writer, enum sql_upkeep when)
{
    switch (when) {
    case SQL_UPKEEP_BUSY:
        if (sqlite_of(writer)->wal_pages >= CHECKPOINT_PAGES_MAX)
            checkpoint(writer, SQLITE_CHECKPOINT_PASSIVE);
        return;
    case SQL_UPKEEP_IDLE:
        if (sqlite_of(writer)->wal_pages >= CHECKPOINT_PAGES)
            checkpoint(writer, SQLITE_CHECKPOINT_PASSIVE);
        return;
    case SQL_UPKEEP_END:
        checkpoint(writer, SQLITE_CHECKPOINT_TRUNCATE);
        return;
    case SQL_UPKEEP_LOST:
        keep_wal(writer);
    }
}

static CHECKED bool shrink(struct sql_connection *writer, bool *more, struct error *error)
{
    SQL_AUTO sql = sql_begin(writer, "PRAGMA freelist_count");

    if (sql_step(&sql, error) != SQL_ROW)
        return false;
    *more = sql_integer(&sql, 0) > FREE_PAGES_KEPT;
    return !*more || sqlite_run(writer, "PRAGMA incremental_vacuum(256)", error);
}

static int64_t size_bytes(struct sql_connection *reader)
{
    const char *place = reader->place;
    struct stat status;
    int64_t bytes = 0;
    TEXT_AUTO wal = { 0 };

    text_addf(&wal, "%s-wal", place);
    if (stat(place, &status) == 0)
        bytes += status.st_size;
    if (stat(text_string(&wal), &status) == 0)
        bytes += status.st_size;
    return bytes;
}

const struct sql_engine sqlite_engine = {
    .name = "SQLite",
    .main = &migrations_sqlite_main,
    .scrapes = &migrations_sqlite_scrapes,
    .open = open_connection,
    .close = close_connection,
    .prepare_schema = sqlite_prepare_schema,
    .prepare = prepare,
    .finish = finish,
    .bind = bind_at,
    .step = step,
    .reset = reset,
    .is_null = column_is_null,
    .integer = column_integer,
    .real = column_real,
    .text = column_text,
    .blob = column_blob,
    .begin = begin_writing,
    .commit = commit,
    .may_repeat = may_repeat,
    .has_table = has_table,
    .changes = changes,
    .in_transaction = in_transaction,
    .explain = explain,
    .upkeep = upkeep,
    .shrink = shrink,
    .size_bytes = size_bytes,
    .version = sqlite_version,
    .snapshot = sqlite_snapshot,
    .copy_begin = sqlite_copy_begin,
    .copy_end = sqlite_copy_end,
};
