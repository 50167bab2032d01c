/* SPDX-License-Identifier: Apache-2.0 */
/* Explains errors of a PostgreSQL server or of a connection to it, and says what to do about them.
 * Most errors are recognized by their SQLSTATE
 * (postgresql.org/docs/current/errcodes-appendix.html). */
#include <string.h>

#include "store/engine/postgres_private.h"

/* The first entry that matches an error explains it. `state`: how the SQLSTATE begins. "": the
 * server sent none, and the problem is recognized by `words` in libpq's message. `kind`: ERROR_BUSY
 * if the problem may be temporary, so that the call can be repeated. */
static const struct problem {
    const char *state;
    enum error_kind kind;
    const char *advice;
    const char *words;
} problems[] = {
    { POSTGRES_DISK_FULL, ERROR_BUSY,
      "the disk of the database server is full: free some space there" },
    { "53300", ERROR_BUSY,
      "the database server has no connections left: raise its max_connections, or lower "
      "--workers" },
    { "53", ERROR_BUSY, "the database server has too little memory or disk space: see its log" },
    { "57014", ERROR_BUSY, "the database took too long for one statement: try again" },
    { "57", ERROR_BUSY, "the database server is starting or stopping: try again in a moment" },
    { POSTGRES_LOCKED, ERROR_BUSY,
      "another program has locked a table of the database: end that program" },
    { "25P03", ERROR_BUSY, "the transaction was paused for too long: try again" },
    { "40", ERROR_BUSY, "another transaction in the database conflicted with this one: try again" },
    { "08P01", ERROR_BUSY,
      "the database or its pooler refuses the connection; pgbouncer does not accept `options` in "
      "the address: set the schema with ALTER ROLE ... SET search_path instead" },
    { "08", ERROR_BUSY, "the connection to the database was lost: try again in a moment" },
    { POSTGRES_READ_ONLY, ERROR_BUSY,
      "the database is read-only (it is a standby, or is set to be read-only): connect to the "
      "primary" },
    { "28P01", ERROR_INTERNAL,
      "the database refuses the user or the password: check both; a password belongs in "
      "OPSBRAIN_DATABASE_PASSWORD_FILE, PGPASSFILE or PGPASSWORD" },
    { "28", ERROR_INTERNAL,
      "the database does not let this user in: check the user, the database's name, sslmode and "
      "the server's pg_hba.conf" },
    { "3D000", ERROR_INTERNAL, "there is no such database: create it with createdb" },
    { "3F000", ERROR_INTERNAL,
      "there is no schema that the user may use: create one with CREATE SCHEMA, or grant the user "
      "USAGE on one" },
    { "42501", ERROR_INTERNAL,
      "the user lacks a privilege in the database: make the user the database's owner" },
    { "XX", ERROR_INTERNAL,
      "the database server reports an internal error or corrupt data: see its log" },
    { "", ERROR_INTERNAL,
      "the database asks for a password, and none was given: put it into PGPASSWORD, or put it "
      "into a file and the file's path into OPSBRAIN_DATABASE_PASSWORD_FILE; or let PGPASSFILE "
      "name a file with mode 0600 that contains the line HOST:PORT:DATABASE:USER:PASSWORD",
      "no password supplied" },
    { "", ERROR_INTERNAL,
      "the database's certificate cannot be verified: name its CA certificate file with "
      "sslrootcert=FILE, and check that the certificate has not expired",
      "certificate verify failed" },
    { "", ERROR_INTERNAL,
      "the database's certificate is for a different host name: use that name in the address",
      "does not match host name" },
    { "", ERROR_INTERNAL,
      "the file that sslrootcert names cannot be read: let it name the CA certificate file",
      "root certificate file" },
    { "", ERROR_INTERNAL,
      "the database server has no TLS, which connections to other machines require: turn on TLS "
      "at the server, or set sslmode=disable",
      "does not support SSL" },
    { "", ERROR_INTERNAL,
      "sslmode must be disable, allow, prefer, require, verify-ca or verify-full",
      "invalid sslmode" },
    { "", ERROR_BUSY,
      "the database cannot be reached: check that it is running, and that the address is right",
      "" },
};

static bool matches(const struct problem *problem, const struct postgres_connection *connection)
{
    if (problem->words != NULL)
        return connection->state[0] == '\0' && strstr(connection->message, problem->words) != NULL;
    return strncmp(connection->state, problem->state, strlen(problem->state)) == 0;
}

static const struct problem *find_problem(const struct postgres_connection *connection)
{
    for (size_t i = 0; i < sizeof problems / sizeof problems[0]; i++)
        if (matches(&problems[i], connection))
            return &problems[i];
    return NULL;
}

bool postgres_explain(struct sql_connection *connection, struct error *error)
{
    const struct postgres_connection *postgres = postgres_of(connection);
    const struct problem *problem = find_problem(postgres);

    if (problem == NULL)
        return error_set(error, ERROR_INTERNAL, "database %s: %s (SQLSTATE %s)", connection->place,
                         postgres->message, postgres->state);
    return error_set(error, problem->kind, "%s (database %s: %s)", problem->advice,
                     connection->place, postgres->message);
}
