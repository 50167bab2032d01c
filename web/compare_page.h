/* SPDX-License-Identifier: Apache-2.0 */
/* The page /compare?a=&b=, and the same comparison as files. All of them also accept run_compare's
 * parameters metric, factors, accept_unknown and keep_wrong. */
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
