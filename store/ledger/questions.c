/* SPDX-License-Identifier: Apache-2.0 */
#include "store/ledger/questions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/ledger/store_private.h"

struct asking {
    const struct claim *claim;
    const struct question_text *questions;
    size_t count;
    int64_t now_ms;
};

static CHECKED bool insert(struct sql_connection *connection, const struct asking *asking, size_t i,
                           struct error *error)
{
    SQL_AUTO sql =
        sql_begin(connection, "INSERT INTO job_questions (job_id, key, request, asked_ms) "
                              "VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO NOTHING");

    sql_bind_text(&sql, 1, asking->claim->job_id);
    sql_bind_text(&sql, 2, asking->questions[i].key);
    sql_bind_text(&sql, 3, asking->questions[i].request);
    sql_bind_integer(&sql, 4, asking->now_ms);
    return sql_run(&sql, error);
}

static CHECKED bool apply_add(struct sql_connection *connection, void *context, struct error *error)
{
    const struct asking *asking = context;

    if (!job_claim_check(connection, asking->claim, error))
        return false;
    for (size_t i = 0; i < asking->count; i++)
        if (!insert(connection, asking, i, error))
            return false;
    return true;
}

static CHECKED bool check_question(const struct question_text *question, struct error *error)
{
    size_t key_bytes = strlen(question->key), request_bytes = strlen(question->request);

    if (key_bytes == 0 || key_bytes >= QUESTION_KEY_SIZE)
        return error_set(error, ERROR_INVALID,
                         "the key of a question is %zu bytes long: it must have 1 to %d bytes",
                         key_bytes, QUESTION_KEY_SIZE - 1);
    if (request_bytes > QUESTION_REQUEST_LIMIT_BYTES)
        return error_set(error, ERROR_INVALID,
                         "the question \"%s\" is %zu bytes long: the limit is %d bytes",
                         question->key, request_bytes, QUESTION_REQUEST_LIMIT_BYTES);
    return true;
}

bool question_add(struct store *store, const struct claim *claim,
                  const struct question_text *questions, size_t count, int64_t now_ms,
                  struct error *error)
{
    struct asking asking = { claim, questions, count, now_ms };

    for (size_t i = 0; i < count; i++)
        if (!check_question(&questions[i], error))
            return false;
    return database_write(store->main, apply_add, &asking, error);
}

struct answering {
    const char *job_id;
    const struct answer_text *answers;
    size_t count, stored;
    int64_t now_ms;
    char detail[64];
};

static CHECKED bool answer_one(struct sql_connection *connection, struct answering *answering,
                               size_t i, struct error *error)
{
    SQL_AUTO sql = sql_begin(connection, "UPDATE job_questions SET answer = ?3, answered_ms = ?4 "
                                         "WHERE job_id = ?1 AND key = ?2 AND answer IS NULL");

    sql_bind_text(&sql, 1, answering->job_id);
    sql_bind_text(&sql, 2, answering->answers[i].key);
    sql_bind_text(&sql, 3, answering->answers[i].answer);
    sql_bind_integer(&sql, 4, answering->now_ms);
    if (!sql_run(&sql, error))
        return false;
    answering->stored += (size_t)sql_changes(&sql);
    return true;
}

static CHECKED bool apply_answer(struct sql_connection *connection, void *context,
                                 struct error *error)
{
    static const char UPDATED[] = "UPDATE jobs SET updated_ms = ?2 WHERE id = ?1";
    struct answering *answering = context;
    struct job job;

    answering->stored = 0;
    if (!job_read(connection, answering->job_id, &job, error))
        return false;
    for (size_t i = 0; i < answering->count; i++)
        if (!answer_one(connection, answering, i, error))
            return false;
    snprintf(answering->detail, sizeof answering->detail, "%zu of %zu answers were stored",
             answering->stored, answering->count);
    return answering->stored == 0
           || job_execute(connection, UPDATED, job.id, answering->now_ms, error);
}

bool question_answer(struct store *store, const char *job_id, const struct answer_text *answers,
                     size_t count, int64_t now_ms, struct change *change, size_t *stored,
                     struct error *error)
{
    struct answering answering = {
        .job_id = job_id, .answers = answers, .count = count, .now_ms = now_ms
    };

    for (size_t i = 0; i < count; i++)
        if (strlen(answers[i].answer) > QUESTION_ANSWER_LIMIT_BYTES)
            return error_set(error, ERROR_INVALID,
                             "the answer to \"%.64s\" is %zu bytes long: the limit is %d bytes",
                             answers[i].key, strlen(answers[i].answer),
                             QUESTION_ANSWER_LIMIT_BYTES);
    if (!store_change(store, change, apply_answer, &answering, job_id, answering.detail, error))
        return false;
    *stored = answering.stored;
    return true;
}

#define QUESTION_COLUMNS(FIRST, COLUMN, OF)                                                        \
    FIRST(struct question_row, TEXT, key, OF "key")                                                \
    COLUMN(struct question_row, HEAP_TEXT, request, OF "request")                                  \
    COLUMN(struct question_row, HEAP_TEXT_OR_NULL, answer, OF "answer")                            \
    COLUMN(struct question_row, INTEGER, asked_ms, OF "asked_ms")                                  \
    COLUMN(struct question_row, INTEGER, answered_ms, OF "answered_ms")
static const struct sql_columns columns = SQL_COLUMNS(struct question_row, QUESTION_COLUMNS);

void question_rows_free(struct question_row *rows, size_t count)
{
    sql_rows_free(&columns, rows, count);
}

bool question_list(struct store *store, const char *job_id, struct question_row **out,
                   size_t *count, struct error *error)
{
    void *rows;
    READER_AUTO reader = database_reader(store->main);
    SQL_AUTO sql = sql_begin(
        reader.connection,
        SQL_SELECT(QUESTION_COLUMNS, "") "FROM job_questions WHERE job_id = ?1 ORDER BY key");

    sql_bind_text(&sql, 1, job_id);
    if (!sql_rows_read(&sql, &columns, &rows, count, error))
        return false;
    *out = rows;
    return true;
}
