/* SPDX-License-Identifier: Apache-2.0 */
/* /plans/ID: what a plan would do, for the person who decides on it. */
#pragma once

#include "web/page.h"

CHECKED bool plan_page_write(const struct page_request *request, struct page_answer *answer,
                             struct error *error);
/* POST: records that the user agrees to the plan, under the same rules as plan_approve. */
CHECKED bool plan_page_submit(const struct page_request *request, struct page_answer *answer,
                              struct error *error);
/* Writes a heading and a list of the newest valid plans that have not begun, and adds the number of
 * listed plans to *found. If there are no such plans, writes nothing. */
CHECKED bool plan_page_list(const struct page_request *request, size_t *found, struct html *html,
                            struct error *error);
