/* SPDX-License-Identifier: Apache-2.0 */
#include "store/engine/sql.h"

#include <stdlib.h>
#include <string.h>

#include "base/core/memory.h"
#include "base/core/text.h"
#include "store/engine/sql_engine.h"

/* A bound text in which NUL and invalid UTF-8 were replaced. */
struct sql_repaired {
    struct sql_repaired *next;
    struct text text;
};

bool sql_connection_open(const struct sql_engine *engine, const char *place,
                         enum sql_connection_kind kind, struct sql_connection **out,
                         struct error *error)
{
    return engine->open(place, kind, out, error);
}

void sql_connection_close(struct sql_connection *connection)
{
    if (connection == NULL)
        return;
    for (size_t i = 0; i < SQL_KEPT_STATEMENTS; i++)
        connection->engine->finish(connection->kept[i].statement);
    connection->engine->close(connection);
}

bool sql_connection_run(struct sql_connection *connection, const char *text, struct error *error)
{
    SQL_AUTO sql = sql_begin(connection, text);

    return sql_run(&sql, error);
}

bool sql_connection_snapshot(struct sql_connection *reader, struct error *error)
{
    return reader->engine->snapshot(reader, error);
}

bool sql_connection_has_table(struct sql_connection *connection, const char *name, bool *found,
                              struct error *error)
{
    return connection->engine->has_table(connection, name, found, error);
}

/* Returns the slot of this text, or a free one; NULL if other texts occupy all slots. */
static struct sql_kept *slot_of(struct sql_connection *connection, const char *text)
{
    size_t start = ((uintptr_t)text >> 3) % SQL_KEPT_STATEMENTS;

    for (size_t i = 0; i < SQL_KEPT_STATEMENTS; i++) {
        struct sql_kept *kept = &connection->kept[(start + i) % SQL_KEPT_STATEMENTS];

        if (kept->text == text || kept->text == NULL)
            return kept;
    }
    return NULL;
}

/* Keeps the first error for the next step: by then, the connection might report another statement's
 * error. */
static void note_failure(struct sql *sql)
{
    if (sql->failure != NULL)
        return;
    sql->failure = memory_zeroed(1, sizeof *sql->failure);
    error_ignore(sql->connection->engine->explain(sql->connection, sql->failure));
}

struct sql sql_begin(struct sql_connection *connection, const char *text)
{
    const struct sql_engine *engine = connection->engine;
    struct sql_kept *kept = slot_of(connection, text);
    bool is_kept = kept != NULL && !kept->in_use;
    struct sql sql = { .connection = connection };

    if (is_kept && kept->statement != NULL)
        sql.statement = kept->statement;
    else
        sql.statement = engine->prepare(connection, text, is_kept);
    if (sql.statement == NULL) {
        note_failure(&sql);
    } else if (is_kept) {
        *kept = (struct sql_kept){ text, sql.statement, true };
        sql.in_use = &kept->in_use;
    }
    return sql;
}

static void free_repaired(struct sql_repaired *repaired)
{
    while (repaired != NULL) {
        struct sql_repaired *next = repaired->next;

        text_finish(&repaired->text);
        free(repaired);
        repaired = next;
    }
}

void sql_end(struct sql *sql)
{
    if (sql->in_use == NULL) {
        sql->connection->engine->finish(sql->statement);
    } else {
        sql->connection->engine->reset(sql->statement);
        *sql->in_use = false;
    }
    free(sql->failure);
    free_repaired(sql->repaired);
}

static void bind_value(struct sql *sql, int position, const struct sql_value *value)
{
    if (sql->statement != NULL && !sql->connection->engine->bind(sql->statement, position, value))
        note_failure(sql);
}

bool sql_is_storable(const char *text, size_t length)
{
    size_t at = text_plain_length(text, length);

    while (at < length) {
        size_t size = text[at] == '\0' ? 0 : text_utf8_sequence(text + at, length - at);

        if (size == 0)
            return false;
        at += size;
        at += text_plain_length(text + at, length - at);
    }
    return true;
}

static void repair(struct sql *sql, struct sql_value *value)
{
    struct sql_repaired *repaired = memory_zeroed(1, sizeof *repaired);

    text_add_utf8(&repaired->text, value->bytes, value->length);
    repaired->next = sql->repaired;
    sql->repaired = repaired;
    value->bytes = text_string(&repaired->text);
    value->length = repaired->text.length;
}

void sql_bind_text(struct sql *sql, int position, const char *text)
{
    if (text == NULL)
        bind_value(sql, position, &(struct sql_value){ .type = SQL_TEXT });
    else
        sql_bind_bytes(sql, position, text, strlen(text));
}

void sql_bind_bytes(struct sql *sql, int position, const char *text, size_t length)
{
    struct sql_value value = { .type = SQL_TEXT, .bytes = text, .length = length };

    if (length == 0)
        value.bytes = "";
    else if (!sql_is_storable(text, length))
        repair(sql, &value);
    bind_value(sql, position, &value);
}

void sql_bind_verbatim(struct sql *sql, int position, const char *text, size_t length)
{
    bind_value(sql, position,
               &(struct sql_value){ .type = SQL_TEXT, .bytes = text, .length = length });
}

void sql_bind_integer(struct sql *sql, int position, int64_t value)
{
    bind_value(sql, position, &(struct sql_value){ .type = SQL_INTEGER, .integer = value });
}

void sql_bind_real(struct sql *sql, int position, double value)
{
    bind_value(sql, position, &(struct sql_value){ .type = SQL_REAL, .real = value });
}

void sql_bind_blob(struct sql *sql, int position, const void *data, size_t length)
{
    bind_value(sql, position,
               &(struct sql_value){ .type = SQL_BLOB, .bytes = data, .length = length });
}

enum sql_step sql_step(struct sql *sql, struct error *error)
{
    const struct sql_engine *engine = sql->connection->engine;
    enum sql_step step;

    if (sql->failure != NULL) {
        *error = *sql->failure;
        return SQL_FAILED;
    }
    step = engine->step(sql->statement);
    if (step == SQL_FAILED)
        error_ignore(engine->explain(sql->connection, error)); /* the step reports the failure */
    return step;
}

bool sql_run(struct sql *sql, struct error *error)
{
    if (sql_step(sql, error) == SQL_FAILED)
        return false;
    sql->connection->engine->reset(sql->statement);
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
    return sql->connection->engine->changes(sql->connection);
}

int64_t sql_integer(const struct sql *sql, int column)
{
    return sql->connection->engine->integer(sql->statement, column);
}

double sql_real(const struct sql *sql, int column)
{
    return sql->connection->engine->real(sql->statement, column);
}

void sql_text(const struct sql *sql, int column, char *out, size_t size)
{
    const char *text = sql->connection->engine->text(sql->statement, column);

    text_copy(out, size, text == NULL ? "" : text);
}

char *sql_text_copy(const struct sql *sql, int column)
{
    const char *text = sql->connection->engine->text(sql->statement, column);

    return memory_copy_text(text == NULL ? "" : text);
}

bool sql_is_null(const struct sql *sql, int column)
{
    return sql->connection->engine->is_null(sql->statement, column);
}

const void *sql_blob(const struct sql *sql, int column, size_t *length)
{
    return sql->connection->engine->blob(sql->statement, column, length);
}

void *sql_rows_grow(void *rows, size_t count, size_t size)
{
    if (count > 0 && (count & (count - 1)) != 0)
        return rows;
    return memory_resize(rows, count == 0 ? 1 : count * 2, size);
}
