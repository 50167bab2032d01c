/* SPDX-License-Identifier: Apache-2.0 */
/* Questions that calls ask a person on one of this server's pages, and the answers. */
#pragma once

#include "base/core/random.h"
#include "store/ledger/change.h"

struct page_question {
    char id[ID_SIZE];
    char principal[64]; /* the principal whose call asks */
    char tool[64], client[128];
    char *params; /* JSON params of elicitation/create: message, requestedSchema; heap */
    char *answer; /* JSON object with action and content; heap; NULL: not answered */
    int64_t asked_ms;
    int64_t expires_ms;  /* from this time on, no answer is accepted */
    int64_t answered_ms; /* 0: not answered */
};
void page_question_finish(struct page_question *question);

/* Adds a question. If a question with that id already exists, that one stays as it is, with its
 * answer. */
CHECKED bool page_question_add(struct store *store, const struct page_question *question,
                               struct error *error);
/* NOT_FOUND: there is no such question, or retention deleted it after a day. Free *out with
 * page_question_finish. */
CHECKED bool page_question_find(struct store *store, const char *id, struct page_question *out,
                                struct error *error);
/* Stores an answer. CONFLICT: the question already has an answer, or nobody waits for it any
 * longer. */
CHECKED bool page_question_answer(struct store *store, const char *id, const char *answer,
                                  int64_t now_ms, struct change *change, struct error *error);
/* Records that nobody waits for the answer any longer. Sets *out to the question, with the answer
 * if one was already given. Free *out with page_question_finish. */
CHECKED bool page_question_end(struct store *store, const char *id, int64_t now_ms,
                               struct page_question *out, struct error *error);
/* Lists a principal's open questions, newest first. Free with page_question_rows_free. */
CHECKED bool page_question_list(struct store *store, const char *principal, int64_t now_ms,
                                size_t limit, struct page_question **out, size_t *count,
                                struct error *error);
void page_question_rows_free(struct page_question *rows, size_t count);
