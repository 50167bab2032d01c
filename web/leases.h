/* SPDX-License-Identifier: Apache-2.0 */
/* /leases: who measures on which endpoint, and who waits. */
#pragma once

#include "web/page.h"

CHECKED bool leases_write(const struct page_request *request, struct page_answer *answer,
                          struct error *error);
