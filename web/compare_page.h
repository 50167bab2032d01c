/* SPDX-License-Identifier: Apache-2.0 */
/* The page /compare?a=&b=, which also takes run_compare's metric, factors, accept_unknown and
 * keep_wrong, and the same comparison as a file. */
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
