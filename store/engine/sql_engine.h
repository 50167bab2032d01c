/* SPDX-License-Identifier: Apache-2.0 */
/* The interface of a database engine: a table of functions, and the first members of its
 * connections. In store/, only the engines, sql.c, database.c, database_writer.c, write_batch.c and
 * store/copy/ call these functions; all other files call those of sql.h. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/core/error.h"
#include "migrations/migrations.h"
#include "store/engine/sql_catalogue.h"
#include "store/engine/sql_types.h"

#define SQL_KEPT_STATEMENTS 256
/* A transaction that failed, but might succeed later, is run again for up to this long after its
 * first run began. */
#define SQL_REPEAT_PATIENCE_NS 20000000000

/* Defined by the engine. */
struct sql_statement;

/* A slot for a statement that the connection keeps for further uses. */
struct sql_kept {
    const char *text; /* its address identifies the statement; NULL: the slot is free */
    struct sql_statement *statement;
    bool in_use;
};

/* The first member of an engine's own connection. */
struct sql_connection {
    const struct sql_engine *engine;
    char *place; /* names the database in messages; SQLite: also the file's path */
    struct sql_kept kept[SQL_KEPT_STATEMENTS]; /* hashed by the address of the text */
};

struct sql_value {
    enum sql_type type;
    int64_t integer;
    double real;
    const void *bytes; /* the text or blob; NULL: SQL's NULL */
    size_t length;     /* of `bytes` */
};

/* When an engine is asked to maintain its files. */
enum sql_upkeep {
    SQL_UPKEEP_BUSY, /* after a transaction, while others are waiting */
    SQL_UPKEEP_IDLE, /* after a transaction, while none is waiting */
    SQL_UPKEEP_END,  /* before the last connection is closed */
    SQL_UPKEEP_LOST, /* instead of END, if another server might own the files by now */
};

/* Statements, except an engine's own, are SQL that every engine understands (tests/check_sql.sh
 * checks this). Their parameters are ?1, ?2 ..., each of which can occur several times, or a ? for
 * each parameter in turn. A parameter has the type of the value bound to it, even if the value is
 * NULL; a parameter that is not bound is NULL. Savepoints and ROLLBACK are statements like others.
 * Text is compared byte by byte. */
struct sql_engine {
    const char *name;
    const struct migration_set *main, *scrapes;

    /* Opening a writer creates a missing SQLite file; a PostgreSQL database must exist. */
    CHECKED bool (*open)(const char *place, enum sql_connection_kind kind,
                         struct sql_connection **out, struct error *error);
    void (*close)(struct sql_connection *connection); /* after its statements were finished */
    /* Checks that the database is empty, or is opsbrain's and has a known version (SQLite: also
     * that a small file is undamaged). A PostgreSQL writer then becomes the holder of the database:
     * the only process that can write to it. Finally, brings the schema up to date. Called before
     * the writer's first transaction. */
    CHECKED bool (*prepare_schema)(struct sql_connection *writer,
                                   const struct migration_set *migrations, struct error *error);

    /* Returns NULL on failure; `explain` says why. `is_kept`: the caller keeps the statement for
     * further runs. */
    struct sql_statement *(*prepare)(struct sql_connection *connection, const char *text,
                                     bool is_kept);
    void (*finish)(struct sql_statement *statement); /* NULL is fine */
    bool (*bind)(struct sql_statement *statement, int position, const struct sql_value *value);
    enum sql_step (*step)(struct sql_statement *statement);
    void (*reset)(struct sql_statement *statement); /* also forgets what was bound */

    /* A column of the current row, converted to the function's type. NULL becomes 0, or a NULL
     * pointer with the length 0. A returned pointer is valid until the next step, reset or
     * finish. */
    bool (*is_null)(struct sql_statement *statement, int column);
    int64_t (*integer)(struct sql_statement *statement, int column);
    double (*real)(struct sql_statement *statement, int column);
    const char *(*text)(struct sql_statement *statement, int column);
    const void *(*blob)(struct sql_statement *statement, int column, size_t *length);

    /* A transaction that writes. If the answer to a commit is lost, `commit` looks up whether the
     * transaction was committed; if that stays unknown, it returns false and the error says so. */
    CHECKED bool (*begin)(struct sql_connection *writer, struct error *error);
    CHECKED bool (*commit)(struct sql_connection *writer, struct error *error);
    /* Returns whether the transaction that failed last might succeed if it is run again soon. */
    bool (*may_repeat)(struct sql_connection *writer);
    /* Renews the writer's hold on the database. CONFLICT: another process holds the database.
     * Called outside of a transaction, every few seconds while there is nothing to write, and
     * during a copy. NULL: the engine has no hold to renew (SQLite). */
    CHECKED bool (*keep)(struct sql_connection *writer, struct error *error);

    /* Begins a transaction that sees the database as it is now, whatever other connections write.
     * If the session is lost, the next statement fails. */
    CHECKED bool (*snapshot)(struct sql_connection *reader, struct error *error);

    CHECKED bool (*has_table)(struct sql_connection *connection, const char *name, bool *found,
                              struct error *error);
    int64_t (*changes)(struct sql_connection *connection); /* see sql_changes */
    bool (*in_transaction)(struct sql_connection *connection);
    /* Sets the error to the latest problem: BUSY if it may be temporary (a full disk, a lock), else
     * INTERNAL. Always returns false. */
    CHECKED bool (*explain)(struct sql_connection *connection, struct error *error);

    void (*upkeep)(struct sql_connection *writer, enum sql_upkeep when);
    /* Call it in a transaction: gives some free space back to the file system. *more: there may be
     * more to give back. */
    CHECKED bool (*shrink)(struct sql_connection *writer, bool *more, struct error *error);
    int64_t (*size_bytes)(struct sql_connection *reader); /* of the whole database; 0: not known */

    /* ---- For copies of a whole database (store/copy/) ---- */

    /* *out: how many migrations were applied. CONFLICT: the file is another program's (SQLite). */
    CHECKED bool (*version)(struct sql_connection *connection,
                            const struct migration_set *migrations, int64_t *out,
                            struct error *error);
    /* Call it outside of a transaction: from now on, rows can be inserted before the rows that they
     * refer to. It can be called again, also by a later process. */
    CHECKED bool (*copy_begin)(struct sql_connection *writer, struct error *error);
    /* Call it in a transaction: adds `rows` rows. `values` has a value for each column of each row;
     * a value whose type is 0 is NULL. `copy_rows` itself is NULL if inserting the rows one by one
     * is just as fast (SQLite). */
    CHECKED bool (*copy_rows)(struct sql_connection *writer, const struct sql_table *table,
                              const struct sql_value *values, size_t rows, struct error *error);
    /* Call it in a transaction: fails if a row refers to a row that does not exist. References are
     * enforced again from now on (SQLite: on connections that are opened later). New rows get ids
     * above those of the copied rows. */
    CHECKED bool (*copy_end)(struct sql_connection *writer, struct error *error);
};
