/* SPDX-License-Identifier: Apache-2.0 */
/* /runs, /runs/{id} and the run's files. */
#pragma once

#include "web/page.h"

CHECKED bool runs_page_write(const struct page_request *request, struct page_answer *answer,
                             struct error *error);
CHECKED bool run_page_write(const struct page_request *request, struct page_answer *answer,
                            struct error *error);
/* "/runs/{id}.json": run_show's answer; "/runs/{id}.csv": every cell. */
CHECKED bool run_page_json(const struct page_request *request, struct page_answer *answer,
                           struct error *error);
CHECKED bool run_page_csv(const struct page_request *request, struct page_answer *answer,
                          struct error *error);
