/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of the PostgreSQL engine. */
#pragma once

#include <libpq-fe.h>

#include "store/engine/sql_engine.h"

#define POSTGRES_STATE_SIZE 6
#define POSTGRES_MESSAGE_SIZE 400
/* SQLSTATEs */
#define POSTGRES_READ_ONLY "25006"
#define POSTGRES_DISK_FULL "53100"
#define POSTGRES_LOCKED "55P03"

/* The limits on a writer's transaction. If the writer's process is paused or loses the connection,
 * the server ends the transaction 10 s after its last statement. A hold lasts longer than that
 * (postgres_holder.c), so when another process can become the holder, no row is still locked. The
 * server confirms a commit only when it is on disk, even if the role or the database has
 * synchronous_commit = off. Either `set` is SET and `local` is "false", or `set` is SET LOCAL and
 * `local` is "true". */
#define POSTGRES_WRITER_LIMITS(set, local)                                                         \
    set " statement_timeout = '300s'; " set " lock_timeout = '30s'; " set                          \
        " idle_in_transaction_session_timeout = '10s'; "                                           \
        "SELECT set_config('synchronous_commit', 'on', " local ") "                                \
        "WHERE current_setting('synchronous_commit') = 'off'"
/* Removes the time limit on statements for one transaction of the holder, in which a migration or
 * the end of a copy may work on whole tables. However long that takes, no other process becomes the
 * holder, because the transaction has locked the holder's row. */
#define POSTGRES_NO_LIMIT "SET LOCAL statement_timeout = 0"

struct postgres_connection {
    struct sql_connection base;
    char *address; /* the URI, which may contain a password */
    PGconn *link;  /* NULL: the password file could not be used */
    enum sql_connection_kind kind;
    /* The number of the current session, counted from 1. A prepared statement exists only in the
     * session that prepared it. */
    unsigned session;
    bool is_begun; /* the current session is ready for statements */
    /* There is a pooler between opsbrain and the server. It can run each transaction in a different
     * session of the server, so settings and prepared statements are not kept from one transaction
     * to the next. */
    bool is_pooled;
    unsigned prepared_count; /* statements prepared so far; their names contain this number */
    int64_t changes;         /* rows changed by the last statement that was not a SELECT */
    const char *set;         /* a writer's set of migrations: "main" or "scrapes"; else NULL */
    /* The number that this writer got when it became the holder (postgres_holder.c); 0: it has not
     * become the holder. */
    int64_t fence;
    int64_t batch;    /* the number of the latest transaction (postgres_holder.c) */
    bool is_full;     /* a statement failed because the server's disk was full */
    int64_t tried_ns; /* when it last tried to reconnect, on the monotonic clock; 0: never */
    char state[POSTGRES_STATE_SIZE];     /* SQLSTATE of the last error; "": libpq reported none */
    char message[POSTGRES_MESSAGE_SIZE]; /* message of the last error, one line */
};

struct postgres_connection *postgres_of(struct sql_connection *connection);

/* Keeps the error for postgres_explain. Always returns false. `result` may be NULL. */
bool postgres_note_failure(struct postgres_connection *connection, const PGresult *result);
/* Runs one or more statements without parameters. */
CHECKED bool postgres_run(struct postgres_connection *connection, const char *script,
                          struct error *error);

/* For struct sql_engine. */
bool postgres_may_repeat(struct sql_connection *connection);

/* ---- postgres_connect.c ---- */

/* For struct sql_engine. */
CHECKED bool postgres_open(const char *place, enum sql_connection_kind kind,
                           struct sql_connection **out, struct error *error);
void postgres_close(struct sql_connection *connection);
/* Returns whether statements can be sent. First reconnects, at most once a second, if the
 * connection was lost or its server has turned read-only. Never call it in a writer's transaction:
 * after a reconnection, the transaction's remaining statements would run outside of it. */
CHECKED bool postgres_is_usable(struct postgres_connection *connection);

/* ---- postgres_problem.c ---- */

CHECKED bool postgres_explain(struct sql_connection *connection, struct error *error);

/* ---- postgres_schema.c ---- */

CHECKED bool postgres_prepare_schema(struct sql_connection *writer,
                                     const struct migration_set *migrations, struct error *error);
/* Returns the name of a set of migrations: "main" or "scrapes". */
const char *postgres_migrations_name(const struct migration_set *migrations);
/* Reads how many migrations of the named set were applied to the database. */
CHECKED bool postgres_read_version(struct sql_connection *connection, const char *name,
                                   int64_t *version, struct error *error);

/* ---- postgres_copy.c: for struct sql_engine ---- */

CHECKED bool postgres_version(struct sql_connection *connection,
                              const struct migration_set *migrations, int64_t *out,
                              struct error *error);
CHECKED bool postgres_snapshot(struct sql_connection *reader, struct error *error);
CHECKED bool postgres_copy_begin(struct sql_connection *writer, struct error *error);
CHECKED bool postgres_copy_rows(struct sql_connection *writer, const struct sql_table *table,
                                const struct sql_value *values, size_t rows, struct error *error);
CHECKED bool postgres_copy_end(struct sql_connection *writer, struct error *error);

/* ---- postgres_holder.c ---- */

/* Becomes the holder. If another holder's hold has not expired yet, and that process is not known
 * to have ended, first waits to see whether the hold is renewed. CONFLICT: another process holds
 * the database. */
CHECKED bool postgres_holder_become(struct postgres_connection *writer, struct error *error);
/* Gives up the hold, so that the next process does not have to wait until it expires. */
void postgres_holder_leave(struct postgres_connection *writer);
/* For struct sql_engine. */
CHECKED bool postgres_begin(struct sql_connection *connection, struct error *error);
CHECKED bool postgres_commit(struct sql_connection *connection, struct error *error);
CHECKED bool postgres_keep(struct sql_connection *connection, struct error *error);

/* ---- postgres_statement.c, postgres_value.c ---- */

/* A parameter of a statement. */
struct postgres_parameter {
    struct sql_value value;
    Oid type;                    /* 0: never bound, so the server infers the type of the NULL */
    bool has_value;              /* false: NULL */
    char bytes[sizeof(int64_t)]; /* if the value is a number: the number in network byte order */
};

#define POSTGRES_PARAMETERS_MAX 64

struct sql_statement {
    struct postgres_connection *connection;
    char *text; /* with parameters $1, $2 ... */
    struct postgres_parameter parameters[POSTGRES_PARAMETERS_MAX];
    int parameter_count;
    bool is_kept;
    unsigned session;                   /* the session in which it is prepared; 0: none */
    Oid types[POSTGRES_PARAMETERS_MAX]; /* the types with which it is prepared */
    char name[16];                      /* of the prepared statement */
    PGresult *result;                   /* NULL: not run since it was last reset */
    int row;                            /* the current row, from 0; -1: before the first row */
    /* The current row's numbers as text, one slot per column; NULL: none was requested yet. */
    char (*shown)[32];
};

struct sql_statement *postgres_prepare(struct sql_connection *connection, const char *text,
                                       bool is_kept);
void postgres_finish(struct sql_statement *statement);
bool postgres_bind(struct sql_statement *statement, int position, const struct sql_value *value);
enum sql_step postgres_step(struct sql_statement *statement);
void postgres_reset(struct sql_statement *statement);

bool postgres_is_null(struct sql_statement *statement, int column);
int64_t postgres_integer(struct sql_statement *statement, int column);
double postgres_real(struct sql_statement *statement, int column);
const char *postgres_text(struct sql_statement *statement, int column);
const void *postgres_blob(struct sql_statement *statement, int column, size_t *length);

Oid postgres_type_of(enum sql_type type);
/* Sets *value to the parameter's bytes in the binary format, in which they are sent, or to NULL for
 * SQL's NULL. The bytes can be part of *parameter, which must therefore stay valid as long as the
 * bytes are used. */
void postgres_encode(struct postgres_parameter *parameter, const char **value, int *length);
