/* SPDX-License-Identifier: Apache-2.0 */
/* GET /: which model servers there are, what is running now, and what needs attention. */
#pragma once

#include "web/page.h"

CHECKED bool overview_write(const struct page_request *request, struct page_answer *answer,
                            struct error *error);
