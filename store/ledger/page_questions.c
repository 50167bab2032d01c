/* SPDX-License-Identifier: Apache-2.0 */
#include "store/ledger/page_questions.h"

#include <stdio.h>

#include "base/core/clock.h"
#include "store/ledger/store_private.h"

#define COLUMNS(FIRST, COLUMN, OF)                                                                 \
    FIRST(struct page_question, TEXT, id, OF "id")                                                 \
    COLUMN(struct page_question, TEXT, principal, OF "principal")                                  \
    COLUMN(struct page_question, TEXT, tool, OF "tool")                                            \
    COLUMN(struct page_question, TEXT, client, OF "client")                                        \
    COLUMN(struct page_question, HEAP_TEXT, params, OF "params")                                   \
    COLUMN(struct page_question, HEAP_TEXT_OR_NULL, answer, OF "answer")                           \
    COLUMN(struct page_question, INTEGER, asked_ms, OF "asked_ms")                                 \
    COLUMN(struct page_question, INTEGER, expires_ms, OF "expires_ms")                             \
    COLUMN(struct page_question, INTEGER_OR_NULL, answered_ms, OF "answered_ms")

static const struct sql_columns columns = SQL_COLUMNS(struct page_question, COLUMNS);

void page_question_finish(struct page_question *question)
{
    sql_row_finish(&columns, question);
}

void page_question_rows_free(struct page_question *rows, size_t count)
{
    sql_rows_free(&columns, rows, count);
}

static CHECKED bool apply_add(struct sql_connection *connection, void *context, struct error *error)
{
    SQL_AUTO sql =
        sql_begin(connection, SQL_INSERT("page_questions", COLUMNS) "ON CONFLICT DO NOTHING");

    sql_row_bind(&sql, &columns, context);
    return sql_run(&sql, error);
}

bool page_question_add(struct store *store, const struct page_question *question,
                       struct error *error)
{
    struct page_question row = *question;

    return database_write(store->main, apply_add, &row, error);
}

static CHECKED bool read_question(struct sql_connection *connection, const char *id,
                                  struct page_question *out, struct error *error)
{
    bool found;
    SQL_AUTO sql =
        sql_begin(connection, SQL_SELECT(COLUMNS, "") "FROM page_questions WHERE id = ?1");

    sql_bind_text(&sql, 1, id);
    if (!sql_row_find(&sql, &columns, out, &found, error))
        return false;
    return found
           || error_set(error, ERROR_NOT_FOUND,
                        "no question has the id \"%.60s\": questions are kept for a day", id);
}

bool page_question_find(struct store *store, const char *id, struct page_question *out,
                        struct error *error)
{
    READER_AUTO reader = database_reader(store->main);

    return read_question(reader.connection, id, out, error);
}

/* ---- Answering ---- */

struct answering {
    const char *id, *answer;
    int64_t now_ms;
    char detail[128];
};

static CHECKED bool check_open(const struct page_question *question, int64_t now_ms,
                               struct error *error)
{
    char when[CLOCK_TEXT_SIZE];

    if (question->answer != NULL)
        return error_set(error, ERROR_CONFLICT,
                         "this question was answered at %s: the first answer counts",
                         clock_format_utc(question->answered_ms, when));
    if (question->expires_ms <= now_ms)
        return error_set(error, ERROR_CONFLICT,
                         "this question expired at %s, and no call waits for its answer: repeat "
                         "the call to be asked again",
                         clock_format_utc(question->expires_ms, when));
    return true;
}

static CHECKED bool store_answer(struct sql_connection *connection,
                                 const struct answering *answering, struct error *error)
{
    SQL_AUTO sql = sql_begin(
        connection, "UPDATE page_questions SET answer = ?2, answered_ms = ?3 WHERE id = ?1");

    sql_bind_text(&sql, 1, answering->id);
    sql_bind_text(&sql, 2, answering->answer);
    sql_bind_integer(&sql, 3, answering->now_ms);
    return sql_run(&sql, error);
}

static CHECKED bool apply_answer(struct sql_connection *connection, void *context,
                                 struct error *error)
{
    struct answering *answering = context;
    struct page_question question;
    bool open;

    if (!read_question(connection, answering->id, &question, error))
        return false;
    open = check_open(&question, answering->now_ms, error);
    snprintf(answering->detail, sizeof answering->detail, "asked by %s", question.tool);
    page_question_finish(&question);
    return open && store_answer(connection, answering, error);
}

bool page_question_answer(struct store *store, const char *id, const char *answer, int64_t now_ms,
                          struct change *change, struct error *error)
{
    struct answering answering = { .id = id, .answer = answer, .now_ms = now_ms };

    return store_change(store, change, apply_answer, &answering, id, answering.detail, error);
}

/* ---- Ending ---- */

struct ending {
    const char *id;
    int64_t now_ms;
};

static CHECKED bool apply_end(struct sql_connection *connection, void *context, struct error *error)
{
    const struct ending *ending = context;
    SQL_AUTO sql = sql_begin(connection, "UPDATE page_questions SET expires_ms = ?2 "
                                         "WHERE id = ?1 AND answer IS NULL AND expires_ms > ?2");

    sql_bind_text(&sql, 1, ending->id);
    sql_bind_integer(&sql, 2, ending->now_ms);
    return sql_run(&sql, error);
}

bool page_question_end(struct store *store, const char *id, int64_t now_ms,
                       struct page_question *out, struct error *error)
{
    struct ending ending = { id, now_ms };

    return database_write(store->main, apply_end, &ending, error)
           && page_question_find(store, id, out, error);
}

bool page_question_list(struct store *store, const char *principal, int64_t now_ms, size_t limit,
                        struct page_question **out, size_t *count, struct error *error)
{
    void *rows;
    READER_AUTO reader = database_reader(store->main);
    SQL_AUTO sql = sql_begin(reader.connection,
                             SQL_SELECT(COLUMNS, "") "FROM page_questions WHERE principal = ?1 "
                                                     "AND expires_ms > ?2 AND answer IS NULL "
                                                     "ORDER BY asked_ms DESC, id LIMIT ?3");

    sql_bind_text(&sql, 1, principal);
    sql_bind_integer(&sql, 2, now_ms);
    sql_bind_integer(&sql, 3, (int64_t)limit);
    if (!sql_rows_read(&sql, &columns, &rows, count, error))
        return false;
    *out = rows;
    return true;
}
