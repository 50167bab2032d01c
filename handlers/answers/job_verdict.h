/* SPDX-License-Identifier: Apache-2.0 */
/* When a sweep has ended, the answer about its job also has the sweep's findings, so that no
 * further call is needed to learn where the server saturates. */
#pragma once

#include "handlers/answer.h"
#include "store/ledger/jobs.h"

#define FIELDS_VERDICT                                                                             \
    { "verdict", VALUE_LIST, .optional = true,                                                     \
      .help = "After the sweep: per context, where the server saturates, and the largest load "    \
              "that meets the limits." },                                                          \
        { "takeaways", VALUE_LIST, .optional = true, .help = "The key takeaways, in sentences." }, \
    {                                                                                              \
        "report", VALUE_TEXT,                                                                      \
            .optional = true,                                                                      \
            .help = "Resource with the whole report or, if the sweep has several runs, the sweep." \
    }

/* If the job ran a sweep and has ended, adds the verdict, the takeaways, and a link to the
 * report or, if the sweep has several runs, to the sweep. For an A/B sweep, adds only the link,
 * because run_compare gives the verdict. */
CHECKED bool job_verdict_add(const struct services *services, const struct job *job,
                             struct answer *answer, struct error *error);
