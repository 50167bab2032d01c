/* SPDX-License-Identifier: Apache-2.0 */
/* What a database engine does for the store: a table of functions, and what its connections begin
 * with. For the engines and for sql.c and database.c, which stand on them; all else sees sql.h. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/core/error.h"
#include "migrations/migrations.h"
#include "store/engine/sql_types.h"

#define SQL_KEPT_STATEMENTS 256

/* The engine's own. */
struct sql_statement;

struct sql_kept {
    const char *text;
    struct sql_statement *statement;
    bool taken;
};

/* An engine's connection begins with it. */
struct sql_connection {
    const struct sql_engine *engine;
    char *place;                               /* the file, for people */
    struct sql_kept kept[SQL_KEPT_STATEMENTS]; /* open addressing by the text's address */
};

enum sql_type { SQL_INTEGER = 1, SQL_REAL, SQL_TEXT, SQL_BLOB };

struct sql_value {
    enum sql_type type;
    int64_t integer;
    double real;
    const void *bytes; /* of a text or a blob; NULL: the value is NULL */
    size_t length;
};

/* When an engine is asked to look after its files. */
enum sql_upkeep {
    SQL_UPKEEP_BUSY, /* after a transaction, more are waiting */
    SQL_UPKEEP_IDLE, /* after a transaction, none is waiting */
    SQL_UPKEEP_END,  /* before the last connection is closed */
    SQL_UPKEEP_LOST, /* the same, and the files may be another server's by now */
};

/* Texts of statements are SQL that every engine speaks (tests/check_sql.sh), with ?1, ?2 ... for
 * parameters, which may occur several times, or with ? for each in turn. A parameter has the type
 * that is bound, also where NULL is; one that is not bound is NULL. Savepoints, COMMIT and ROLLBACK
 * are statements like others. Texts compare byte by byte: a database that has collations is made
 * with "C". */
struct sql_engine {
    const char *name;
    const char *begin; /* the statement that begins a transaction which writes */
    const struct migration_set *main, *scrapes;

    /* Makes the place where it is missing, for a writer. */
    CHECKED bool (*open)(const char *place, enum sql_connection_kind kind,
                         struct sql_connection **out, struct error *error);
    void (*close)(struct sql_connection *connection); /* its statements are finished */
    /* Is what is there ours, whole, and of a version we know? Then brings it up to date. On the
     * writer, before anything else. */
    CHECKED bool (*prepare_schema)(struct sql_connection *writer,
                                   const struct migration_set *migrations, struct error *error);

    /* NULL: `explain` says why. `is_kept`: for many runs. */
    struct sql_statement *(*prepare)(struct sql_connection *connection, const char *text,
                                     bool is_kept);
    void (*finish)(struct sql_statement *statement); /* NULL is fine */
    bool (*bind)(struct sql_statement *statement, int position, const struct sql_value *value);
    enum sql_step (*step)(struct sql_statement *statement);
    void (*reset)(struct sql_statement *statement); /* and nothing is bound */

    /* Columns of the current row, converted; NULL and no length for NULL. Borrowed until the next
     * step. */
    int64_t (*integer)(struct sql_statement *statement, int column);
    double (*real)(struct sql_statement *statement, int column);
    const char *(*text)(struct sql_statement *statement, int column);
    const void *(*blob)(struct sql_statement *statement, int column, size_t *length);

    CHECKED bool (*has_table)(struct sql_connection *connection, const char *name, bool *found,
                              struct error *error);
    int64_t (*changes)(struct sql_connection *connection); /* rows that the last run changed */
    bool (*in_transaction)(struct sql_connection *connection);
    /* Sets the error to what went wrong last: BUSY for what passes (a full disk, a lock), INTERNAL
     * for what does not. Returns false. */
    CHECKED bool (*explain)(struct sql_connection *connection, struct error *error);

    void (*upkeep)(struct sql_connection *writer, enum sql_upkeep when);
    /* In a transaction: gives some free space back; *more: there is more. */
    CHECKED bool (*shrink)(struct sql_connection *writer, bool *more, struct error *error);
    int64_t (*size_bytes)(const char *place);
};
