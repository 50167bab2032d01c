#include "store/engine/sql.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/memory.h"
#include "base/core/text.h"

#define KEPT_STATEMENTS 256
#define BUSY_TIMEOUT_MS 5000

struct kept {
    const char *text;
    sqlite3_stmt *statement;
    bool taken;
};

struct sql_connection {
    sqlite3 *db;
    char *path;
    struct kept kept[KEPT_STATEMENTS]; /* open addressing by the text's address */
};

/* The errno behind an I/O error. sqlite3_system_errno misses those of a commit, so the files are
 * asked too, the write-ahead log first. */
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

/* A full disk shows as FULL, or as an I/O error with one of these causes. */
static bool disk_is_full(int code, int cause)
{
    return code == SQLITE_FULL
           || (code == SQLITE_IOERR && (cause == ENOSPC || cause == EDQUOT || cause == EFBIG));
}

/* Says in one sentence what sqlite3 reported last, and what to do about it. Returns false. */
static bool failed(struct sql_connection *connection, struct error *error)
{
    int code = sqlite3_errcode(connection->db) & 0xff;
    int cause = code == SQLITE_IOERR ? system_cause(connection->db) : 0;
    const char *path = connection->path;

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
                         path, sqlite3_errmsg(connection->db));
    if (code == SQLITE_READONLY || code == SQLITE_CANTOPEN || code == SQLITE_PERM
        || code == SQLITE_AUTH)
        return error_set(
            error, ERROR_INTERNAL,
            "database %s cannot be written (%s): make the file and its folder writable "
            "for the user that runs opsbrain",
            path, sqlite3_errmsg(connection->db));
    if (code == SQLITE_IOERR)
        return error_set(error, ERROR_INTERNAL,
                         "database %s: the disk reported an error (%s, code %d): check the disk",
                         path, cause != 0 ? strerror(cause) : sqlite3_errmsg(connection->db),
                         sqlite3_extended_errcode(connection->db));
    return error_set(error, ERROR_INTERNAL, "database %s: %s (code %d)", path,
                     sqlite3_errmsg(connection->db), sqlite3_extended_errcode(connection->db));
}

bool sql_connection_open(const char *path, enum sql_connection_kind kind,
                         struct sql_connection **out, struct error *error)
{
    static const char reader[] = "PRAGMA query_only = ON; PRAGMA temp_store = MEMORY;";
    static const char writer[] = "PRAGMA foreign_keys = ON; PRAGMA temp_store = MEMORY;"
                                 "PRAGMA synchronous = FULL; PRAGMA journal_size_limit = 67108864;";
    struct sql_connection *connection = memory_zeroed(1, sizeof *connection);

    connection->path = memory_copy_text(path);
    if (sqlite3_open_v2(path, &connection->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL)
            != SQLITE_OK
        || sqlite3_busy_timeout(connection->db, BUSY_TIMEOUT_MS) != SQLITE_OK) {
        failed(connection, error);
        sql_connection_close(connection);
        return false;
    }
    if (!sql_connection_run(connection, kind == SQL_CONNECTION_READER ? reader : writer, error)) {
        sql_connection_close(connection);
        return false;
    }
    *out = connection;
    return true;
}

void sql_connection_close(struct sql_connection *connection)
{
    if (connection == NULL)
        return;
    for (size_t i = 0; i < KEPT_STATEMENTS; i++)
        sqlite3_finalize(connection->kept[i].statement);
    sqlite3_close(connection->db);
    free(connection->path);
    free(connection);
}

const char *sql_connection_path(const struct sql_connection *connection)
{
    return connection->path;
}

sqlite3 *sql_connection_handle(struct sql_connection *connection)
{
    return connection->db;
}

bool sql_connection_run(struct sql_connection *connection, const char *script, struct error *error)
{
    return sqlite3_exec(connection->db, script, NULL, NULL, NULL) == SQLITE_OK
           || failed(connection, error);
}

/* The slot of this text, or a free one; NULL when all are taken by others. */
static struct kept *slot_of(struct sql_connection *connection, const char *text)
{
    size_t start = ((uintptr_t)text >> 3) % KEPT_STATEMENTS;

    for (size_t i = 0; i < KEPT_STATEMENTS; i++) {
        struct kept *kept = &connection->kept[(start + i) % KEPT_STATEMENTS];

        if (kept->text == text || kept->text == NULL)
            return kept;
    }
    return NULL;
}

static sqlite3_stmt *prepare(struct sql_connection *connection, const char *text, unsigned flags)
{
    sqlite3_stmt *statement = NULL;

    sqlite3_prepare_v3(connection->db, text, -1, flags, &statement, NULL);
    return statement; /* NULL: the first step says why */
}

struct sql sql_begin(struct sql_connection *connection, const char *text)
{
    struct kept *kept = slot_of(connection, text);

    if (kept == NULL || kept->taken)
        return (struct sql){ connection, prepare(connection, text, 0), NULL, false };
    if (kept->statement == NULL)
        kept->statement = prepare(connection, text, SQLITE_PREPARE_PERSISTENT);
    if (kept->statement == NULL)
        return (struct sql){ connection, NULL, NULL, false };
    kept->text = text;
    kept->taken = true;
    return (struct sql){ connection, kept->statement, &kept->taken, false };
}

void sql_end(struct sql *sql)
{
    if (sql->taken == NULL) {
        sqlite3_finalize(sql->statement);
        return;
    }
    sqlite3_reset(sql->statement);
    sqlite3_clear_bindings(sql->statement);
    *sql->taken = false;
}

static void bound(struct sql *sql, int status)
{
    sql->failed = sql->failed || status != SQLITE_OK;
}

void sql_bind_text(struct sql *sql, int position, const char *text)
{
    if (sql->statement != NULL)
        bound(sql, sqlite3_bind_text(sql->statement, position, text, -1, SQLITE_STATIC));
}

void sql_bind_bytes(struct sql *sql, int position, const char *text, size_t length)
{
    if (sql->statement != NULL)
        bound(sql, sqlite3_bind_text64(sql->statement, position, length == 0 ? "" : text, length,
                                       SQLITE_STATIC, SQLITE_UTF8));
}

void sql_bind_integer(struct sql *sql, int position, int64_t value)
{
    if (sql->statement != NULL)
        bound(sql, sqlite3_bind_int64(sql->statement, position, value));
}

void sql_bind_time(struct sql *sql, int position, int64_t utc_ms)
{
    if (sql->statement != NULL && utc_ms != 0)
        bound(sql, sqlite3_bind_int64(sql->statement, position, utc_ms));
}

void sql_bind_real(struct sql *sql, int position, double value)
{
    if (sql->statement != NULL)
        bound(sql, sqlite3_bind_double(sql->statement, position, value));
}

void sql_bind_blob(struct sql *sql, int position, const void *data, size_t length)
{
    if (sql->statement != NULL)
        bound(sql, sqlite3_bind_blob64(sql->statement, position, data, length, SQLITE_STATIC));
}

enum sql_step sql_step(struct sql *sql, struct error *error)
{
    int status = SQLITE_ERROR;

    if (sql->statement != NULL && !sql->failed)
        status = sqlite3_step(sql->statement);
    if (status == SQLITE_ROW)
        return SQL_ROW;
    if (status == SQLITE_DONE)
        return SQL_DONE;
    failed(sql->connection, error);
    return SQL_FAILED;
}

bool sql_run(struct sql *sql, struct error *error)
{
    if (sql_step(sql, error) == SQL_FAILED)
        return false;
    sqlite3_reset(sql->statement);
    sqlite3_clear_bindings(sql->statement);
    return true;
}

bool sql_find(struct sql *sql, bool *found, struct error *error)
{
    enum sql_step step = sql_step(sql, error);

    if (step == SQL_FAILED)
        return false;
    *found = step == SQL_ROW;
    return true;
}

int64_t sql_changes(const struct sql *sql)
{
    return sqlite3_changes64(sql->connection->db);
}

int64_t sql_inserted(const struct sql *sql)
{
    return sqlite3_last_insert_rowid(sql->connection->db);
}

int64_t sql_integer(const struct sql *sql, int column)
{
    return sqlite3_column_int64(sql->statement, column);
}

double sql_real(const struct sql *sql, int column)
{
    return sqlite3_column_double(sql->statement, column);
}

void sql_text(const struct sql *sql, int column, char *out, size_t size)
{
    const char *text = (const char *)sqlite3_column_text(sql->statement, column);

    text_copy(out, size, text == NULL ? "" : text);
}

char *sql_text_copy(const struct sql *sql, int column)
{
    const char *text = (const char *)sqlite3_column_text(sql->statement, column);

    return memory_copy_text(text == NULL ? "" : text);
}

const void *sql_blob(const struct sql *sql, int column, size_t *length)
{
    const void *data = sqlite3_column_blob(sql->statement, column);

    *length = (size_t)sqlite3_column_bytes(sql->statement, column);
    return data;
}

void *sql_rows_grow(void *rows, size_t count, size_t size)
{
    if (count > 0 && (count & (count - 1)) != 0)
        return rows;
    return memory_resize(rows, count == 0 ? 1 : count * 2, size);
}
