/* SPDX-License-Identifier: Apache-2.0 */
/* /sweeps/new: the form for sweep_plan, and then the plan with a button that starts exactly that
 * plan. */
#pragma once

#include "web/page.h"

CHECKED bool sweep_form_write(const struct page_request *request, struct page_answer *answer,
                              struct error *error);
CHECKED bool sweep_form_submit(const struct page_request *request, struct page_answer *answer,
                               struct error *error);
