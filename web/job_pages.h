/* SPDX-License-Identifier: Apache-2.0 */
/* /jobs: running, waiting and past jobs. Until a job has ended, users who may cancel it see a
 * button for that. */
#pragma once

#include "web/page.h"

CHECKED bool job_page_list(const struct page_request *request, struct page_answer *answer,
                           struct error *error);
/* GET /jobs/{id}: redirects to the page of the job's sweep or plan or, if the job has neither,
 * shows the job. */
CHECKED bool job_page_show(const struct page_request *request, struct page_answer *answer,
                           struct error *error);
/* GET /jobs/{id}.json: job_show's answer. */
CHECKED bool job_page_json(const struct page_request *request, struct page_answer *answer,
                           struct error *error);
/* POST /jobs/{id}/cancel. */
CHECKED bool job_page_cancel(const struct page_request *request, struct page_answer *answer,
                             struct error *error);

/* Writes a table of jobs or, if there are none, the sentence `none`. `jobs` has the rows that
 * job_list and job_show return. */
void job_page_table(const struct page_request *request, const char *caption, const json_t *jobs,
                    const char *none, struct html *html);
