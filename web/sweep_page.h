/* SPDX-License-Identifier: Apache-2.0 */
/* /sweeps, /sweeps/{id} and the sweep's files. */
#pragma once

#include "web/page.h"

CHECKED bool sweeps_page_write(const struct page_request *request, struct page_answer *answer,
                               struct error *error);
/* Until the sweep has ended, shows the progress and what has been measured so far; then, the
 * report. */
CHECKED bool sweep_page_write(const struct page_request *request, struct page_answer *answer,
                              struct error *error);
/* "/sweeps/{id}.json": run_report's answer; "/sweeps/{id}.csv": every cell of the sweep's runs. */
CHECKED bool sweep_page_json(const struct page_request *request, struct page_answer *answer,
                             struct error *error);
CHECKED bool sweep_page_csv(const struct page_request *request, struct page_answer *answer,
                            struct error *error);
/* POST /sweeps/{id}/cancel. */
CHECKED bool sweep_page_cancel_submit(const struct page_request *request,
                                      struct page_answer *answer, struct error *error);
