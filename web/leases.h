/* SPDX-License-Identifier: Apache-2.0 */
/* /leases: who is measuring at which endpoint, and who is waiting. */
#pragma once

#include "web/page.h"

CHECKED bool leases_write(const struct page_request *request, struct page_answer *answer,
                          struct error *error);
