/* SPDX-License-Identifier: Apache-2.0 */
/* Connections to a PostgreSQL server: the parameters for libpq, and the start of each session. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/core/clock.h"
#include "base/core/memory.h"
#include "base/core/text.h"
#include "store/engine/first_line.h"
#include "store/engine/postgres.h"
#include "store/engine/postgres_private.h"

#define RETRY_INTERVAL_NS 1000000000
#define SYSTEM_CERTIFICATES "/etc/ssl/certs/ca-certificates.crt"
#define PASSWORD_FILE "OPSBRAIN_DATABASE_PASSWORD_FILE"
#define PASSWORD_SIZE 1024
#define OPTIONS_MAX 16

/* ---- Parameters for libpq ---- */

/* Pairs for PQconnectdbParams: later ones override earlier ones, and the URI comes first. */
struct options {
    const char *names[OPTIONS_MAX], *values[OPTIONS_MAX];
    int count;
};

/* Defaults for what neither the URI nor the environment sets. A server that does not answer is
 * given up after 10 s, one that disappears during a session after 15 s. With a file of
 * certificates, libpq would verify in every sslmode. */
static const struct option_default {
    const char *name, *value;
    enum { IN_ANY_CASE, TO_OTHER_MACHINES, TO_VERIFY } when;
} defaults[] = {
    { "fallback_application_name", "opsbrain", IN_ANY_CASE },
    { "connect_timeout", "10", IN_ANY_CASE },
    { "keepalives_idle", "5", IN_ANY_CASE },
    { "keepalives_interval", "5", IN_ANY_CASE },
    { "keepalives_count", "2", IN_ANY_CASE },
    { "tcp_user_timeout", "15000", IN_ANY_CASE }, /* ms */
    { "sslmode", "verify-full", TO_OTHER_MACHINES },
    { "sslrootcert", SYSTEM_CERTIFICATES, TO_VERIFY },
};

static void add_option(struct options *options, const char *name, const char *value)
{
    options->names[options->count] = name;
    options->values[options->count++] = value;
}

/* `name`: a parameter of libpq. */
static const PQconninfoOption *find_option(const PQconninfoOption *parsed, const char *name)
{
    while (strcmp(parsed->keyword, name) != 0)
        parsed++;
    return parsed;
}

/* The value in the URI, else in the environment; NULL: in neither. */
static const char *value_of(const PQconninfoOption *parsed, const char *name)
{
    const PQconninfoOption *option = find_option(parsed, name);

    return option->val != NULL || option->envvar == NULL ? option->val : getenv(option->envvar);
}

/* A socket in the file system, or the loopback interface. libpq connects to `hostaddr`, whatever
 * `host` is. */
static bool is_this_machine(const PQconninfoOption *parsed)
{
    const char *address = value_of(parsed, "hostaddr");
    const char *host = address != NULL ? address : value_of(parsed, "host");

    return host == NULL || host[0] == '/' || host[0] == '@' || strcmp(host, "localhost") == 0
           || strcmp(host, "127.0.0.1") == 0 || strcmp(host, "::1") == 0;
}

static bool applies(const struct option_default *each, const PQconninfoOption *parsed)
{
    const char *mode = value_of(parsed, "sslmode");

    if (value_of(parsed, each->name) != NULL)
        return false;
    if (each->when == TO_VERIFY && access(each->value, R_OK) != 0)
        return false;
    if (each->when == TO_VERIFY && mode != NULL)
        return strncmp(mode, "verify", strlen("verify")) == 0;
    return each->when == IN_ANY_CASE || !is_this_machine(parsed);
}

static void add_defaults(struct options *options, const PQconninfoOption *parsed)
{
    for (size_t i = 0; i < sizeof defaults / sizeof *defaults; i++)
        if (applies(&defaults[i], parsed))
            add_option(options, defaults[i].name, defaults[i].value);
}

/* libpq would end a password at an "@" or a "/", and take it for a port if no host follows; its
 * errors name the ports, hosts and databases that it cannot use. */
static bool is_clear(const char *place)
{
    const char *rest = strstr(place, "://");
    size_t user;

    if (rest == NULL)
        return false;
    rest += strlen("://");
    user = strcspn(rest, "@/");
    if (rest[user] == '@')
        rest += user + 1;
    else if (memchr(rest, ':', strcspn(rest, "/?")) != NULL)
        return false;
    return memchr(rest, '@', strcspn(rest, "?")) == NULL;
}

/* libpq's own message may contain the password. */
static CHECKED bool read_place(const char *place, PQconninfoOption **parsed, struct error *error)
{
    if (strpbrk(place, "\r\n") != NULL)
        return error_set(
            error, ERROR_INVALID,
            "the address of the database has a line break, as at the end of a file: omit it");
    *parsed = is_clear(place) ? PQconninfoParse(place, NULL) : NULL;
    if (*parsed != NULL)
        return true;
    return error_set(error, ERROR_INVALID,
                     "the address of the database is not valid: write it as "
                     "postgresql://USER@HOST:PORT/DATABASE; in a name or a password, @ is %%40, "
                     "/ is %%2F and %% is %%25");
}

/* ---- Sessions ---- */

/* A pooler answers with an invented process id; each transaction behind it has another session. */
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
        [SQL_CONNECTION_WRITER] = POSTGRES_WRITER_LIMITS("SET"),
    };
    struct error ignored; /* the result is kept for postgres_explain */

    connection->is_begun = false;
    if (PQstatus(connection->link) != CONNECTION_OK)
        return postgres_note_failure(connection, NULL);
    connection->session++;
    connection->is_begun =
        find_pooler(connection)
        && (connection->is_pooled || postgres_run(connection, scripts[connection->kind], &ignored));
    return connection->is_begun;
}

/* After a failover the address may lead to another server, which is writable. */
static bool found_read_only(const struct postgres_connection *connection)
{
    return strcmp(connection->state, POSTGRES_READ_ONLY) == 0;
}

bool postgres_is_usable(struct postgres_connection *connection)
{
    bool is_connected = PQstatus(connection->link) == CONNECTION_OK && connection->is_begun;
    bool is_due = clock_monotonic_ns() - connection->tried_ns >= RETRY_INTERVAL_NS;

    if (is_connected && !(found_read_only(connection) && is_due))
        return true;
    if (!is_due)
        return postgres_note_failure(connection, NULL);
    PQreset(connection->link);
    connection->tried_ns = clock_monotonic_ns();
    connection->state[0] = '\0';
    return begin_session(connection);
}

/* ---- Connections ---- */

static void ignore_notice(void *context, const char *message)
{
    (void)context;
    (void)message;
}

/* For people: without user and password. */
static char *name_place(const PGconn *link)
{
    TEXT_AUTO name = { 0 };

    text_addf(&name, "%s on %s", PQdb(link), PQhost(link));
    return memory_copy_text(text_string(&name));
}

/* Where neither the URI nor the environment has one, from the file that the environment names;
 * PGPASSFILE is for libpq, which refuses a file that others may read. */
static CHECKED bool find_password(const PQconninfoOption *parsed, char out[PASSWORD_SIZE],
                                  struct error *error)
{
    const char *path = getenv(PASSWORD_FILE);

    out[0] = '\0';
    return path == NULL || value_of(parsed, "password") != NULL
           || first_line_read(PASSWORD_FILE, path, out, PASSWORD_SIZE, error);
}

/* The SQLSTATE of a refusal is only in verbose messages, which can be requested once there is a
 * PGconn. */
static PGconn *connect_to(const char *place, const char *password, const PQconninfoOption *parsed)
{
    struct options options = { 0 };
    PGconn *link;

    add_option(&options, "dbname", place);
    add_option(&options, "client_encoding", "UTF8");
    if (password[0] != '\0')
        add_option(&options, "password", password);
    add_defaults(&options, parsed);
    link = PQconnectdbParams(options.names, options.values, 1);
    PQsetErrorVerbosity(link, PQERRORS_VERBOSE);
    PQsetNoticeProcessor(link, ignore_notice, NULL);
    if (PQstatus(link) != CONNECTION_OK && strstr(PQerrorMessage(link), "FATAL:") != NULL)
        PQreset(link);
    return link;
}

bool postgres_open(const char *place, enum sql_connection_kind kind, struct sql_connection **out,
                   struct error *error)
{
    struct postgres_connection *connection;
    char password[PASSWORD_SIZE];
    PQconninfoOption *parsed;

    if (!read_place(place, &parsed, error))
        return false;
    if (!find_password(parsed, password, error)) {
        PQconninfoFree(parsed);
        return false;
    }
    connection = memory_zeroed(1, sizeof *connection);
    connection->base.engine = &postgres_engine;
    connection->kind = kind;
    connection->link = connect_to(place, password, parsed);
    connection->base.place = name_place(connection->link);
    explicit_bzero(password, sizeof password);
    PQconninfoFree(parsed);
    if (!begin_session(connection)) {
        error_ignore(postgres_explain(&connection->base, error));
        postgres_close(&connection->base);
        return false;
    }
    *out = &connection->base;
    return true;
}

void postgres_close(struct sql_connection *connection)
{
    PQfinish(postgres_of(connection)->link);
    free(connection->place);
    free(connection);
}
