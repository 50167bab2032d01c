/* SPDX-License-Identifier: Apache-2.0 */
/* /compare?a=&b=, with run_compare's metric, factors, accept_unknown and keep_wrong; and its file.
 */
#pragma once

#include "web/page.h"

CHECKED bool compare_page_write(const struct page_request *request, struct page_answer *answer,
                                struct error *error);
/* "/compare.json": run_compare's answer. */
CHECKED bool compare_page_json(const struct page_request *request, struct page_answer *answer,
                               struct error *error);
/* "/compare.html": the report as a file to save. */
CHECKED bool compare_page_file(const struct page_request *request, struct page_answer *answer,
                               struct error *error);
