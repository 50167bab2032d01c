/* SPDX-License-Identifier: Apache-2.0 */
/* /register: the form of deployment_register. */
#pragma once

#include "web/page.h"

CHECKED bool register_write(const struct page_request *request, struct page_answer *answer,
                            struct error *error);
CHECKED bool register_submit(const struct page_request *request, struct page_answer *answer,
                             struct error *error);
