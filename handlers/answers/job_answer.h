/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs in answers, and who may act on them. */
#pragma once

#include "handlers/answer.h"
#include "store/ledger/jobs.h"

#define PARAM_JOB                                                                                  \
    {                                                                                              \
        "job", VALUE_TEXT, .required = true, .low = 1, .high = 39,                                 \
                           .help = "Its id (job_...), or its sweep's (swp_...)."                   \
    }

extern const struct field job_answer_fields[];
json_t *job_answer_json(const struct job *job);                    /* new reference */
void job_answer_describe(const struct job *job, struct text *out); /* one line */

/* The id of the job that the argument `job` names, by its own id or its sweep's. */
CHECKED bool job_answer_id(const struct call *call, char out[ID_SIZE], struct error *error);
/* Operators act on their own jobs, admins on all; `act` is for example "stop it". */
CHECKED bool job_answer_check_owner(const struct call *call, const char *what,
                                    const char *principal, const char *act, struct error *error);
/* The page of its sweep. */
void job_answer_shows(const struct job *job, struct answer *answer);
const char *job_answer_next_step(const struct job *job); /* what to call next */
