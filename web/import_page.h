/* SPDX-License-Identifier: Apache-2.0 */
/* /imports: lists the imported files, imports a file of results, and shows what was read from the
 * file and what was not. */
#pragma once

#include "web/page.h"

CHECKED bool import_page_write(const struct page_request *request, struct page_answer *answer,
                               struct error *error);
CHECKED bool import_page_submit(const struct page_request *request, struct page_answer *answer,
                                struct error *error);
