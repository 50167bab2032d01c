/* SPDX-License-Identifier: Apache-2.0 */
/* What a sweep that is over has found, with the job that measured it: enough to answer where the
 * server saturates, without another call. */
#pragma once

#include "handlers/answer.h"
#include "store/ledger/jobs.h"

#define FIELDS_VERDICT                                                                             \
    { "verdict", VALUE_LIST, .optional = true,                                                     \
      .help = "Of a sweep that is over: per context, where it saturates and what meets the "       \
              "limits." },                                                                         \
        { "takeaways", VALUE_LIST, .optional = true,                                               \
          .help = "What the figures say, in sentences." },                                         \
    {                                                                                              \
        "page", VALUE_TEXT, .optional = true, .help = "Resource with the whole report."            \
    }

/* Adds them where the job is of a sweep and is over; of an A/B sweep the page
 * alone, as run_compare has the verdict. */
CHECKED bool job_verdict_add(const struct services *services, const struct job *job,
                             struct answer *answer, struct error *error);
