/* SPDX-License-Identifier: Apache-2.0 */
/* Statements on a PostgreSQL connection. A statement that its caller keeps for further runs is
 * prepared at its first run, because the types of its parameters are not known earlier. It is
 * prepared again in a new session, or if the types of its parameters change. If there is a pooler,
 * nothing is prepared. All rows of a run arrive together. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/core/clock.h"
#include "base/core/memory.h"
#include "base/core/text.h"
#include "store/engine/postgres_private.h"

#define BINARY 1
#define READ_DELAY_NS 100000000
#define READ_PATIENCE_NS 10000000000

/* ---- The text of a statement ---- */

/* Reads the number after a "?" and moves *text past it. Returns `next` if there is no number. */
static int read_position(const char **text, int next)
{
    char *end;
    long position = strtol(*text, &end, 10);

    if (end == *text)
        return next;
    *text = end;
    return (int)position;
}

/* Replaces ?2 with $2, and so on. A ? without a number gets the number after the highest one so
 * far. String literals are not changed. *count: the highest number. */
static char *number_parameters(const char *text, int *count)
{
    TEXT_AUTO out = { 0 };
    bool quoted = false;

    *count = 0;
    while (*text != '\0') {
        char c = *text++;

        quoted ^= c == '\'';
        if (quoted || c != '?') {
            text_add_char(&out, c);
            continue;
        }
        int position = read_position(&text, *count + 1);
        *count = position > *count ? position : *count;
        text_addf(&out, "$%d", position);
    }
    return memory_copy_text(text_string(&out));
}

/* Notes what is wrong with a statement, which is then not sent to the server. */
__attribute__((format(printf, 3, 4))) static void note(struct postgres_connection *connection,
                                                       const char *state, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(connection->message, sizeof connection->message, format, args);
    va_end(args);
    text_copy(connection->state, sizeof connection->state, state);
}

struct sql_statement *postgres_prepare(struct sql_connection *connection, const char *text,
                                       bool is_kept)
{
    struct sql_statement *statement = memory_zeroed(1, sizeof *statement);

    statement->connection = postgres_of(connection);
    statement->text = number_parameters(text, &statement->parameter_count);
    statement->is_kept = is_kept;
    if (statement->parameter_count <= POSTGRES_PARAMETERS_MAX)
        return statement;
    note(statement->connection, "54023",
         "a statement has %d parameters, but at most %d are allowed", statement->parameter_count,
         POSTGRES_PARAMETERS_MAX);
    free(statement->text);
    free(statement);
    return NULL;
}

void postgres_reset(struct sql_statement *statement)
{
    PQclear(statement->result);
    statement->result = NULL;
    free(statement->shown);
    statement->shown = NULL;
    for (int i = 0; i < statement->parameter_count; i++)
        statement->parameters[i].has_value = false;
}

void postgres_finish(struct sql_statement *statement)
{
    if (statement == NULL)
        return;
    postgres_reset(statement);
    free(statement->text);
    free(statement);
}

bool postgres_bind(struct sql_statement *statement, int position, const struct sql_value *value)
{
    bool is_null = (value->type == SQL_TEXT || value->type == SQL_BLOB) && value->bytes == NULL;
    struct postgres_parameter *parameter;

    if (position < 1 || position > statement->parameter_count) {
        note(statement->connection, "42P02", "there is no parameter $%d", position);
        return false;
    }
    parameter = &statement->parameters[position - 1];
    parameter->value = *value;
    parameter->type = postgres_type_of(value->type);
    parameter->has_value = !is_null;
    return true;
}

/* ---- Runs ---- */

/* The parameters of a run, in the arrays that libpq's functions take. */
struct sent {
    const char *values[POSTGRES_PARAMETERS_MAX];
    int lengths[POSTGRES_PARAMETERS_MAX];
    int formats[POSTGRES_PARAMETERS_MAX];
    Oid types[POSTGRES_PARAMETERS_MAX];
};

static void encode_all(struct sql_statement *statement, struct sent *sent)
{
    for (int i = 0; i < statement->parameter_count; i++) {
        struct postgres_parameter *parameter = &statement->parameters[i];

        postgres_encode(parameter, &sent->values[i], &sent->lengths[i]);
        sent->types[i] = parameter->type;
        sent->formats[i] = BINARY;
    }
}

static bool is_prepared(const struct sql_statement *statement, const struct sent *sent)
{
    return statement->session == statement->connection->session
           && memcmp(statement->types, sent->types,
                     (size_t)statement->parameter_count * sizeof *sent->types)
                  == 0;
}

static bool prepare_now(struct sql_statement *statement, const struct sent *sent)
{
    struct postgres_connection *connection = statement->connection;
    PGresult *result;
    bool ok;

    snprintf(statement->name, sizeof statement->name, "s%u", ++connection->prepared_count);
    result = PQprepare(connection->link, statement->name, statement->text,
                       statement->parameter_count, sent->types);
    ok = PQresultStatus(result) == PGRES_COMMAND_OK || postgres_note_failure(connection, result);
    PQclear(result);
    if (!ok)
        return false;
    statement->session = connection->session;
    memcpy(statement->types, sent->types, sizeof statement->types);
    return true;
}

static PGresult *run(struct sql_statement *statement)
{
    struct postgres_connection *connection = statement->connection;
    struct sent sent;

    encode_all(statement, &sent);
    if (!statement->is_kept || connection->is_pooled)
        return PQexecParams(connection->link, statement->text, statement->parameter_count,
                            sent.types, sent.values, sent.lengths, sent.formats, BINARY);
    if (!is_prepared(statement, &sent) && !prepare_now(statement, &sent))
        return NULL;
    return PQexecPrepared(connection->link, statement->name, statement->parameter_count,
                          sent.values, sent.lengths, sent.formats, BINARY);
}

static void count_changes(struct postgres_connection *connection, PGresult *result)
{
    if (strncmp(PQcmdStatus(result), "SELECT", 6) != 0)
        connection->changes = strtoll(PQcmdTuples(result), NULL, 10);
}

/* Reconnects only a reader: a writer might be in a transaction, which ends with its session. */
static bool ensure_connected(struct postgres_connection *connection)
{
    if (connection->kind == SQL_CONNECTION_READER)
        return postgres_is_usable(connection);
    return PQstatus(connection->link) == CONNECTION_OK || postgres_note_failure(connection, NULL);
}

static bool run_once(struct sql_statement *statement)
{
    struct postgres_connection *connection = statement->connection;
    ExecStatusType status;

    if (!ensure_connected(connection))
        return false;
    statement->result = run(statement);
    statement->row = -1;
    if (statement->result == NULL)
        return false;
    status = PQresultStatus(statement->result);
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK)
        return postgres_note_failure(connection, statement->result);
    count_changes(connection, statement->result);
    return true;
}

/* If the connection is lost, for example because the server is restarting, a reader that is not in
 * a transaction tries again for READ_PATIENCE_NS. */
static bool run_patiently(struct sql_statement *statement)
{
    const struct postgres_connection *connection = statement->connection;
    bool waits = connection->kind == SQL_CONNECTION_READER
                 && PQtransactionStatus(connection->link) != PQTRANS_INTRANS;
    int64_t until_ns = clock_monotonic_ns() + READ_PATIENCE_NS;

    while (!run_once(statement)) {
        PQclear(statement->result);
        statement->result = NULL;
        if (!waits || PQstatus(connection->link) == CONNECTION_OK
            || !postgres_may_repeat(&statement->connection->base)
            || clock_monotonic_ns() >= until_ns)
            return false;
        nanosleep(&(struct timespec){ .tv_nsec = READ_DELAY_NS }, NULL);
    }
    return true;
}

enum sql_step postgres_step(struct sql_statement *statement)
{
    if (statement->result == NULL && !run_patiently(statement))
        return SQL_FAILED;
    return ++statement->row < PQntuples(statement->result) ? SQL_ROW : SQL_DONE;
}
