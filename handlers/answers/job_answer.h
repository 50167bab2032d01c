/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs in answers, and who may act on them. */
#pragma once

#include "handlers/answer.h"
#include "store/ledger/jobs.h"

#define PARAM_JOB                                                                                  \
    {                                                                                              \
        "job", VALUE_TEXT, .required = true, .low = 1, .high = 39,                                 \
                           .help = "Job id (job_...), or its sweep's (swp_...)."                   \
    }

extern const struct field job_answer_fields[];
json_t *job_answer_json(const struct job *job);                    /* new reference */
void job_answer_describe(const struct job *job, struct text *out); /* one line */

/* Reads the argument `job`. If it is a sweep's id, *out is the id of the sweep's latest job;
 * otherwise *out is the argument itself, which is not checked. NOT_FOUND: there is no such
 * sweep. */
CHECKED bool job_answer_id(const struct call *call, char out[ID_SIZE], struct error *error);
/* FORBIDDEN: the job is not the caller's, and the caller is not an admin. `what`: the id of the job
 * or of its sweep. `principal`: who started it. `act`: what the caller wants to do, such as "stop
 * it". */
CHECKED bool job_answer_check_owner(const struct call *call, const char *what,
                                    const char *principal, const char *act, struct error *error);
/* If the job runs a sweep, sets the answer's page to the sweep's page. */
void job_answer_shows(const struct job *job, struct answer *answer);
const char *job_answer_next_step(const struct job *job); /* what to call next */
