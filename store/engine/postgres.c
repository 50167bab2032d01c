/* SPDX-License-Identifier: Apache-2.0 */
#include "store/engine/postgres.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/core/clock.h"
#include "base/core/memory.h"
#include "base/core/text.h"
#include "store/engine/postgres_private.h"
#include "store/engine/sql.h"

#define CONNECT_TIMEOUT_S "10"
#define RETRY_INTERVAL_NS 1000000000
#define SYSTEM_CERTIFICATES "/etc/ssl/certs/ca-certificates.crt"
#define OPTIONS_MAX 16

struct postgres_connection *postgres_of(struct sql_connection *connection)
{
    return (struct postgres_connection *)connection;
}

/* ---- What is asked of libpq ---- */

/* Pairs for PQconnectdbParams: what comes later counts, and the URI comes first. */
struct options {
    const char *names[OPTIONS_MAX], *values[OPTIONS_MAX];
    int count;
};

static void add_option(struct options *options, const char *name, const char *value)
{
    options->names[options->count] = name;
    options->values[options->count++] = value;
}

static const char *option_of(const PQconninfoOption *parsed, const char *name)
{
    for (; parsed->keyword != NULL; parsed++)
        if (strcmp(parsed->keyword, name) == 0)
            return parsed->val;
    return NULL;
}

/* A socket in the file system, or the loopback interface. */
static bool is_this_machine(const char *host)
{
    return host == NULL || host[0] == '/' || host[0] == '@' || strcmp(host, "localhost") == 0
           || strcmp(host, "127.0.0.1") == 0 || strcmp(host, "::1") == 0;
}

static void add_encryption(struct options *options, const PQconninfoOption *parsed)
{
    const char *host = option_of(parsed, "host");

    if (is_this_machine(host != NULL ? host : getenv("PGHOST")))
        return;
    if (option_of(parsed, "sslmode") == NULL && getenv("PGSSLMODE") == NULL)
        add_option(options, "sslmode", "verify-full");
    if (option_of(parsed, "sslrootcert") == NULL && getenv("PGSSLROOTCERT") == NULL
        && access(SYSTEM_CERTIFICATES, R_OK) == 0)
        add_option(options, "sslrootcert", SYSTEM_CERTIFICATES);
}

static CHECKED bool read_place(const char *place, PQconninfoOption **parsed, struct error *error)
{
    char *problem = NULL;

    *parsed = PQconninfoParse(place, &problem);
    if (*parsed == NULL)
        error_set(error, ERROR_INVALID,
                  "the address of the database is not valid (%s): write it as "
                  "postgresql://USER@HOST:PORT/DATABASE",
                  problem == NULL ? "out of memory" : problem);
    PQfreemem(problem);
    return *parsed != NULL;
}

/* ---- Connections ---- */

static void ignore_notice(void *context, const char *message)
{
    (void)context;
    (void)message;
}

bool postgres_note_failure(struct postgres_connection *connection, const PGresult *result)
{
    const char *state = result == NULL ? NULL : PQresultErrorField(result, PG_DIAG_SQLSTATE);
    const char *primary =
        result == NULL ? NULL : PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);

    text_copy(connection->state, sizeof connection->state, state == NULL ? "" : state);
    text_copy(connection->message, sizeof connection->message,
              primary == NULL ? PQerrorMessage(connection->link) : primary);
    connection->message[strcspn(connection->message, "\n")] = '\0';
    return false;
}

bool postgres_run(struct postgres_connection *connection, const char *script, struct error *error)
{
    PGresult *result = PQexec(connection->link, script);
    ExecStatusType status = PQresultStatus(result);
    bool ok = status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK
              || postgres_note_failure(connection, result);

    PQclear(result);
    return ok || postgres_explain(&connection->base, error);
}

/* A pooler answers with a process of its own making; behind it each transaction has another
 * session. */
static CHECKED bool find_pooler(struct postgres_connection *connection)
{
    PGresult *result = PQexec(connection->link, "SELECT pg_backend_pid()");
    bool ok =
        PQresultStatus(result) == PGRES_TUPLES_OK || postgres_note_failure(connection, result);

    if (ok)
        connection->is_pooled =
            strtol(PQgetvalue(result, 0, 0), NULL, 10) != PQbackendPID(connection->link);
    PQclear(result);
    return ok;
}

static CHECKED bool begin_session(struct postgres_connection *connection)
{
    static const char *const scripts[] = {
        [SQL_CONNECTION_READER] = "SET statement_timeout = '60s'; "
                                  "SET default_transaction_read_only = on",
        [SQL_CONNECTION_WRITER] = "SET statement_timeout = '300s'; SET lock_timeout = '30s'",
    };
    struct error ignored; /* it is kept for postgres_explain */

    if (PQstatus(connection->link) != CONNECTION_OK)
        return postgres_note_failure(connection, NULL);
    connection->session++;
    return find_pooler(connection)
           && (connection->is_pooled
               || postgres_run(connection, scripts[connection->kind], &ignored));
}

bool postgres_is_usable(struct postgres_connection *connection)
{
    int64_t now_ns = clock_monotonic_ns();

    if (PQstatus(connection->link) == CONNECTION_OK)
        return true;
    if (now_ns - connection->tried_ns < RETRY_INTERVAL_NS)
        return postgres_note_failure(connection, NULL);
    PQreset(connection->link);
    connection->tried_ns = clock_monotonic_ns();
    return begin_session(connection);
}

static void close_connection(struct sql_connection *connection)
{
    PQfinish(postgres_of(connection)->link);
    free(connection->place);
    free(connection);
}

/* For people: without user and password. */
static char *name_place(const PGconn *link)
{
    TEXT_AUTO name = { 0 };

    text_addf(&name, "%s on %s", PQdb(link), PQhost(link));
    return memory_copy_text(text_string(&name));
}

static CHECKED bool open_connection(const char *place, enum sql_connection_kind kind,
                                    struct sql_connection **out, struct error *error)
{
    struct options options = { 0 };
    struct postgres_connection *connection;
    PQconninfoOption *parsed;

    if (!read_place(place, &parsed, error))
        return false;
    add_option(&options, "dbname", place);
    add_option(&options, "fallback_application_name", "opsbrain");
    add_option(&options, "client_encoding", "UTF8");
    if (option_of(parsed, "connect_timeout") == NULL)
        add_option(&options, "connect_timeout", CONNECT_TIMEOUT_S);
    add_encryption(&options, parsed);
    connection = memory_zeroed(1, sizeof *connection);
    connection->base.engine = &postgres_engine;
    connection->kind = kind;
    connection->link = PQconnectdbParams(options.names, options.values, 1);
    PQconninfoFree(parsed);
    connection->base.place = name_place(connection->link);
    PQsetNoticeProcessor(connection->link, ignore_notice, NULL);
    if (!begin_session(connection)) {
        error_ignore(postgres_explain(&connection->base, error));
        close_connection(&connection->base);
        return false;
    }
    *out = &connection->base;
    return true;
}

static bool in_transaction(struct sql_connection *connection)
{
    PGTransactionStatusType status = PQtransactionStatus(postgres_of(connection)->link);

    return status == PQTRANS_INTRANS || status == PQTRANS_INERROR;
}

static CHECKED bool has_table(struct sql_connection *connection, const char *name, bool *found,
                              struct error *error)
{
    SQL_AUTO sql = sql_begin(connection, "SELECT 1 FROM pg_tables "
                                         "WHERE schemaname = current_schema() AND tablename = ?1");

    sql_bind_text(&sql, 1, name);
    return sql_find(&sql, found, error);
}

/* A lost session, a server that is restarted, another transaction in the way. */
static bool may_repeat(struct sql_connection *writer)
{
    const char *state = postgres_of(writer)->state;

    return state[0] == '\0' || strncmp(state, "57P", 3) == 0 || strncmp(state, "08", 2) == 0
           || strncmp(state, "40", 2) == 0;
}

static int64_t changes(struct sql_connection *connection)
{
    return postgres_of(connection)->changes;
}

/* ---- Its upkeep is the server's ---- */

static void upkeep(struct sql_connection *writer, enum sql_upkeep when)
{
    if (when == SQL_UPKEEP_END)
        postgres_holder_leave(postgres_of(writer));
}

static CHECKED bool shrink(struct sql_connection *writer, bool *more, struct error *error)
{
    (void)writer;
    (void)error;
    *more = false;
    return true;
}

static int64_t size_bytes(const char *place)
{
    (void)place;
    return 0;
}

const struct sql_engine postgres_engine = {
    .name = "PostgreSQL",
    .main = &migrations_postgres_main,
    .scrapes = &migrations_postgres_scrapes,
    .open = open_connection,
    .close = close_connection,
    .prepare_schema = postgres_prepare_schema,
    .prepare = postgres_prepare,
    .finish = postgres_finish,
    .bind = postgres_bind,
    .step = postgres_step,
    .reset = postgres_reset,
    .integer = postgres_integer,
    .real = postgres_real,
    .text = postgres_text,
    .blob = postgres_blob,
    .begin = postgres_begin,
    .commit = postgres_commit,
    .may_repeat = may_repeat,
    .keep = postgres_keep,
    .has_table = has_table,
    .changes = changes,
    .in_transaction = in_transaction,
    .explain = postgres_explain,
    .upkeep = upkeep,
    .shrink = shrink,
    .size_bytes = size_bytes,
};
