/* SPDX-License-Identifier: Apache-2.0 */
/* The findings of a sweep that is over, added to the answer about its job: enough to say where the
 * server saturates, without a further call. */
#pragma once

#include "handlers/answer.h"
#include "store/ledger/jobs.h"

#define FIELDS_VERDICT                                                                             \
    { "verdict", VALUE_LIST, .optional = true,                                                     \
      .help = "After the sweep: per context, where the server saturates and what meets the "       \
              "limits." },                                                                         \
        { "takeaways", VALUE_LIST, .optional = true, .help = "The key takeaways, in sentences." }, \
    {                                                                                              \
        "report", VALUE_TEXT,                                                                      \
            .optional = true,                                                                      \
            .help = "Resource with the whole report; with the sweep, if it has several runs."      \
    }

/* If the job is a sweep's and is over, adds the verdict, the takeaways and a link: to the report
 * or, if the sweep has several runs, to the sweep. For an A/B sweep, adds only the link, since
 * run_compare gives the verdict. */
CHECKED bool job_verdict_add(const struct services *services, const struct job *job,
                             struct answer *answer, struct error *error);
