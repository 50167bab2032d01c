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
/* In bytes. A cloud's access token, used as the password, can have several thousand characters. */
#define PASSWORD_SIZE 8192
#define OLDEST_VERSION 15
#define OPTIONS_MAX 16

/* ---- Parameters for libpq ---- */

/* Names and values for PQconnectdbParams. The URI comes first; later values override it. */
struct options {
    const char *names[OPTIONS_MAX], *values[OPTIONS_MAX];
    int count;
};

/* Defaults for parameters that neither the URI nor the environment sets. With them, libpq gives up
 * after 10 s on a server that does not answer, and after 15 s on one that disappears during a
 * session. sslrootcert is set only if sslmode asks libpq to verify the certificate: once
 * sslrootcert is set, libpq verifies the certificate even with sslmode=require. */
static const struct option_default {
    const char *name, *value;
    enum { IN_ANY_CASE, TO_OTHER_MACHINES, TO_VERIFY, TO_SEVERAL_HOSTS } when;
} defaults[] = {
    { "fallback_application_name", "opsbrain", IN_ANY_CASE },
    { "connect_timeout", "10", IN_ANY_CASE },
    { "keepalives_idle", "5", IN_ANY_CASE },
    { "keepalives_interval", "5", IN_ANY_CASE },
    { "keepalives_count", "2", IN_ANY_CASE },
    { "tcp_user_timeout", "15000", IN_ANY_CASE }, /* ms */
    { "sslmode", "verify-full", TO_OTHER_MACHINES },
    { "sslrootcert", SYSTEM_CERTIFICATES, TO_VERIFY },
    /* After a failover, the first host might be a standby, which lags behind the primary. */
    { "target_session_attrs", "primary", TO_SEVERAL_HOSTS },
};

static void add_option(struct options *options, const char *name, const char *value)
{
    options->names[options->count] = name;
    options->values[options->count++] = value;
}

/* `name`: one of libpq's parameters. */
static const PQconninfoOption *find_option(const PQconninfoOption *parsed, const char *name)
{
    while (strcmp(parsed->keyword, name) != 0)
        parsed++;
    return parsed;
}

/* Returns the value from the URI or, failing that, from the environment. NULL: neither has it. */
static const char *value_of(const PQconninfoOption *parsed, const char *name)
{
    const PQconninfoOption *option = find_option(parsed, name);

    return option->val != NULL || option->envvar == NULL ? option->val : getenv(option->envvar);
}

/* Returns `hostaddr` if it is set, because libpq then connects to it, or else `host`. NULL: neither
 * is set; unless a service file names a host, libpq connects to a Unix socket on this machine. */
static const char *hosts_of(const PQconninfoOption *parsed)
{
    const char *address = value_of(parsed, "hostaddr");

    return address != NULL ? address : value_of(parsed, "host");
}

static bool has_several(const char *hosts)
{
    return hosts != NULL && strchr(hosts, ',') != NULL;
}

/* Returns true for a Unix socket, localhost, 127.0.0.1 and ::1. Returns false for several hosts,
 * and for a service, whose hosts are not known here: only libpq reads the service file. */
static bool is_this_machine(const PQconninfoOption *parsed)
{
    const char *hosts = hosts_of(parsed);

    if (value_of(parsed, "service") != NULL || has_several(hosts))
        return false;
    return hosts == NULL || hosts[0] == '/' || hosts[0] == '@' || strcmp(hosts, "localhost") == 0
           || strcmp(hosts, "127.0.0.1") == 0 || strcmp(hosts, "::1") == 0;
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
    if (each->when == TO_SEVERAL_HOSTS)
        return has_several(hosts_of(parsed));
    return each->when == IN_ANY_CASE || !is_this_machine(parsed);
}

static void add_defaults(struct options *options, const PQconninfoOption *parsed)
{
    for (size_t i = 0; i < sizeof defaults / sizeof *defaults; i++)
        if (applies(&defaults[i], parsed))
            add_option(options, defaults[i].name, defaults[i].value);
}

/* Returns false if `place` is not a URI, or if libpq could mistake part of the password for
 * something else and show it in an error message. libpq ends a password at the first "@". If there
 * is no "@" before the first "/", libpq takes the password for a port. Its error messages quote
 * ports, hosts and databases. */
static bool is_unambiguous(const char *place)
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

/* Does not report libpq's own error message, which might contain the password. */
static CHECKED bool read_place(const char *place, PQconninfoOption **parsed, struct error *error)
{
    if (strpbrk(place, "\r\n") != NULL)
        return error_set(error, ERROR_INVALID,
                         "the database address contains a line break, perhaps from the end of a "
                         "file: remove it");
    *parsed = is_unambiguous(place) ? PQconninfoParse(place, NULL) : NULL;
    if (*parsed != NULL)
        return true;
    return error_set(error, ERROR_INVALID,
                     "the database address is not valid: write it as "
                     "postgresql://USER@HOST:PORT/DATABASE; in a name or a password, write @ as "
                     "%%40, / as %%2F and %% as %%25");
}

/* ---- Sessions ---- */

/* Overrides settings that the role or the database might have: each statement must see what was
 * committed before it, and neither idle_session_timeout nor transaction_timeout may end a session.
 * pg_settings says which of the two the server has: PostgreSQL before 17 has no
 * transaction_timeout. */
#define OVERRIDES                                                                                  \
    "SET default_transaction_isolation = 'read committed'; "                                       \
    "SELECT set_config(name, '0', false) FROM pg_settings "                                        \
    "WHERE name IN ('idle_session_timeout', 'transaction_timeout')"

/* Sets is_pooled. When libpq connects, the server sends it the process id of the session. A pooler
 * sends an invented id instead, which differs from the one that the session itself reports. */
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
                                  "SET default_transaction_read_only = on; " OVERRIDES,
        [SQL_CONNECTION_WRITER] = POSTGRES_WRITER_LIMITS("SET", "false") "; " OVERRIDES,
    };
    struct error ignored; /* postgres_run keeps the error for postgres_explain */

    connection->is_begun = false;
    if (PQstatus(connection->link) != CONNECTION_OK)
        return postgres_note_failure(connection, NULL);
    connection->session++;
    connection->is_begun =
        find_pooler(connection)
        && (connection->is_pooled || postgres_run(connection, scripts[connection->kind], &ignored));
    return connection->is_begun;
}

/* ---- Connections ---- */

static void ignore_notice(void *context, const char *message)
{
    (void)context;
    (void)message;
}

/* Returns the name of the database for messages, "NAME on HOST": without user and password. */
static char *name_place(const PGconn *link)
{
    TEXT_AUTO name = { 0 };

    text_addf(&name, "%s on %s", PQdb(link), PQhost(link));
    return memory_copy_text(text_string(&name));
}

/* Puts the path into the environment, where find_password looks for it: some commands have no
 * setting for the path, only the environment variable. */
void postgres_use_password_file(const char *path)
{
    if (path[0] != '\0')
        setenv(PASSWORD_FILE, path, 1);
}

/* Reads the password from the file that OPSBRAIN_DATABASE_PASSWORD_FILE names, unless the URI or
 * the environment has a password. PGPASSFILE is no substitute: libpq ignores that file
 * if other users can read it, and they often can if the file is a mounted secret. */
static CHECKED bool find_password(const PQconninfoOption *parsed, char out[PASSWORD_SIZE],
                                  struct error *error)
{
    const char *path = getenv(PASSWORD_FILE);

    out[0] = '\0';
    if (path == NULL || path[0] == '\0' || value_of(parsed, "password") != NULL)
        return true;
    if (!first_line_read(PASSWORD_FILE, path, out, PASSWORD_SIZE, error))
        return false;
    return strlen(out) < PASSWORD_SIZE - 1
           || error_set(error, ERROR_INVALID,
                        "the first line of " PASSWORD_FILE " %.200s has more than %d characters: "
                        "it must contain only the password",
                        path, PASSWORD_SIZE - 2);
}

/* Only verbose messages contain the SQLSTATE of a refusal, and they can be requested only once
 * there is a PGconn. So after a refusal, connect_with connects a second time. */
static PGconn *connect_with(const char *place, const char *password, const PQconninfoOption *parsed)
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

/* Returns false and sets *link to NULL if the address is not valid or the password file cannot be
 * used. Otherwise, the status of *link says whether it is connected. Reads the password file each
 * time, because a platform can replace the file while opsbrain is running. */
static CHECKED bool connect_to(const char *place, PGconn **link, struct error *error)
{
    char password[PASSWORD_SIZE];
    PQconninfoOption *parsed;
    bool found;

    *link = NULL;
    if (!read_place(place, &parsed, error))
        return false;
    found = find_password(parsed, password, error);
    if (found)
        *link = connect_with(place, password, parsed);
    explicit_bzero(password, sizeof password);
    PQconninfoFree(parsed);
    return found;
}

/* Returns true if the last error was that the server is read-only. A new connection can then help:
 * after a failover, the same address can lead to a writable server. */
static bool found_read_only(const struct postgres_connection *connection)
{
    return strcmp(connection->state, POSTGRES_READ_ONLY) == 0;
}

static CHECKED bool connect_again(struct postgres_connection *connection)
{
    struct error problem;
    bool found;

    PQfinish(connection->link);
    found = connect_to(connection->address, &connection->link, &problem);
    connection->tried_ns = clock_monotonic_ns();
    connection->state[0] = '\0';
    if (!found)
        text_copy(connection->message, sizeof connection->message, problem.message);
    return found && begin_session(connection);
}

bool postgres_is_usable(struct postgres_connection *connection)
{
    bool is_connected = PQstatus(connection->link) == CONNECTION_OK && connection->is_begun;
    bool is_due = clock_monotonic_ns() - connection->tried_ns >= RETRY_INTERVAL_NS;

    if (is_connected && !(found_read_only(connection) && is_due))
        return true;
    return is_due ? connect_again(connection) : postgres_note_failure(connection, NULL);
}

/* Checks the server's version and the database's encoding: with an encoding other than UTF8, the
 * server would reject some characters, or count bytes instead of characters. */
static CHECKED bool check_server(const struct postgres_connection *connection, struct error *error)
{
    const char *encoding = PQparameterStatus(connection->link, "server_encoding");
    int version = PQserverVersion(connection->link) / 10000;

    if (version < OLDEST_VERSION)
        return error_set(error, ERROR_INVALID,
                         "database %s runs on PostgreSQL %d: use PostgreSQL %d or newer",
                         connection->base.place, version, OLDEST_VERSION);
    return encoding == NULL || strcmp(encoding, "UTF8") == 0
           || error_set(error, ERROR_INVALID,
                        "database %s has the encoding %.40s, and opsbrain needs UTF8: create a new "
                        "database with `createdb -E UTF8 -T template0`",
                        connection->base.place, encoding);
}

static CHECKED bool begin(struct postgres_connection *connection, struct error *error)
{
    return (begin_session(connection) || postgres_explain(&connection->base, error))
           && check_server(connection, error);
}

bool postgres_open(const char *place, enum sql_connection_kind kind, struct sql_connection **out,
                   struct error *error)
{
    struct postgres_connection *connection;
    PGconn *link;

    if (!connect_to(place, &link, error))
        return false;
    connection = memory_zeroed(1, sizeof *connection);
    connection->base.engine = &postgres_engine;
    connection->base.place = name_place(link);
    connection->address = memory_copy_text(place);
    connection->kind = kind;
    connection->link = link;
    if (!begin(connection, error)) {
        postgres_close(&connection->base);
        return false;
    }
    *out = &connection->base;
    return true;
}

void postgres_close(struct sql_connection *connection)
{
    struct postgres_connection *postgres = postgres_of(connection);

    PQfinish(postgres->link);
    explicit_bzero(postgres->address, strlen(postgres->address));
    free(postgres->address);
    free(connection->place);
    free(connection);
}
