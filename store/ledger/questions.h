/* SPDX-License-Identifier: Apache-2.0 */
/* Questions that jobs ask people or a client's model, and the answers. */
#pragma once

#include "store/ledger/jobs.h"

#define QUESTION_KEY_SIZE 65
#define QUESTION_REQUEST_LIMIT_BYTES 16384
#define QUESTION_ANSWER_LIMIT_BYTES 65536

struct question_row {
    char key[QUESTION_KEY_SIZE];
    char *request; /* JSON object with method and params, heap */
    char *answer;  /* JSON object, heap; NULL: not answered */
    int64_t asked_ms;
    int64_t answered_ms; /* 0: not answered */
};

struct question_text {
    const char *key, *request;
};
/* Stores questions that the claimed job asks. A question asked earlier with the same key stays as
 * it is, with its answer. INVALID: a key is empty, or a key or a question is too long. CONFLICT:
 * the claim is stale. */
CHECKED bool question_add(struct store *store, const struct claim *claim,
                          const struct question_text *questions, size_t count, int64_t now_ms,
                          struct error *error);
struct answer_text {
    const char *key, *answer;
};
/* Stores answers and the audit row, in one transaction. Answers to questions that are unknown or
 * already answered are ignored; *stored counts the others. INVALID: an answer is too long.
 * NOT_FOUND: there is no such job. */
CHECKED bool question_answer(struct store *store, const char *job_id,
                             const struct answer_text *answers, size_t count, int64_t now_ms,
                             struct change *change, size_t *stored, struct error *error);
/* Lists a job's questions, sorted by key. Free with question_rows_free. */
CHECKED bool question_list(struct store *store, const char *job_id, struct question_row **out,
                           size_t *count, struct error *error);
void question_rows_free(struct question_row *rows, size_t count);
