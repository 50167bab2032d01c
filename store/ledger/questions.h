/* SPDX-License-Identifier: Apache-2.0 */
/* The questions of jobs to people or to a client's model, and the answers. */
#pragma once

#include "store/ledger/jobs.h"

#define QUESTION_KEY_SIZE 65
#define QUESTION_REQUEST_LIMIT_BYTES 16384
#define QUESTION_ANSWER_LIMIT_BYTES 65536

struct question_row {
    char key[QUESTION_KEY_SIZE];
    char *request; /* JSON object: method and params */
    char *answer;  /* JSON object; NULL: open */
    int64_t asked_ms, answered_ms;
};

/* Notes what the holder of a job asks; INVALID if it is too long. A question asked earlier under
 * the same key stays as it is, with its answer. CONFLICT if the claim is stale. */
struct question_text {
    const char *key, *request;
};
CHECKED bool question_add(struct store *store, const struct claim *claim,
                          const struct question_text *questions, size_t count, int64_t now_ms,
                          struct error *error);
/* Stores answers, in one transaction with the audit row. Keys that are not open (unknown, or
 * already answered) are ignored; *taken counts the others. INVALID if an answer is too long. */
struct answer_text {
    const char *key, *answer;
};
CHECKED bool question_answer(struct store *store, const char *job_id,
                             const struct answer_text *answers, size_t count, int64_t now_ms,
                             struct change *change, size_t *taken, struct error *error);
/* A job's questions in order of key. question_rows_free. */
CHECKED bool question_list(struct store *store, const char *job_id, struct question_row **out,
                           size_t *count, struct error *error);
void question_rows_free(struct question_row *rows, size_t count);
