/* SPDX-License-Identifier: Apache-2.0 */
/* /audit-log: who did what, with filters. */
#pragma once

#include "web/page.h"

CHECKED bool audit_log_page_write(const struct page_request *request, struct page_answer *answer,
                                  struct error *error);
