/* SPDX-License-Identifier: Apache-2.0 */
/* /imports: a file of results is dropped, and one sees what was read of it and what was not. */
#pragma once

#include "web/page.h"

CHECKED bool import_page_write(const struct page_request *request, struct page_answer *answer,
                               struct error *error);
CHECKED bool import_page_take(const struct page_request *request, struct page_answer *answer,
                              struct error *error);
