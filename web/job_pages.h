/* SPDX-License-Identifier: Apache-2.0 */
/* /jobs: running, waiting and past jobs. Users who may cancel a job see a button for that until the
 * job is over. */
#pragma once

#include "web/page.h"

CHECKED bool job_page_list(const struct page_request *request, struct page_answer *answer,
                           struct error *error);
/* GET /jobs/{id}: redirects to the page of the job's sweep or plan or, if it has none, shows the
 * job. */
CHECKED bool job_page_show(const struct page_request *request, struct page_answer *answer,
                           struct error *error);
/* GET /jobs/{id}.json: job_show's answer. */
CHECKED bool job_page_json(const struct page_request *request, struct page_answer *answer,
                           struct error *error);
/* POST /jobs/{id}/cancel. */
CHECKED bool job_page_cancel(const struct page_request *request, struct page_answer *answer,
                             struct error *error);

/* Writes a table of jobs, as job_list and job_show return them; if there are none, the sentence
 * `none`. */
void job_page_table(const struct page_request *request, const char *caption, const json_t *jobs,
                    const char *none, struct html *html);
