/* SPDX-License-Identifier: Apache-2.0 */
/* The form of /sign-in, which asks for a key. */
#pragma once

#include "web/page.h"

/* `to`: the path to go to afterwards. `why`: why the form that was sent was refused; NULL: none
 * was sent. */
void sign_in_write(const struct page_request *request, const char *to, const char *why,
                   struct page_answer *answer);
