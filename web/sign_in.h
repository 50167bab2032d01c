/* SPDX-License-Identifier: Apache-2.0 */
/* The form on /sign-in, in which the user enters an API key. */
#pragma once

#include "web/page.h"

/* `to`: the path to go to afterwards. `why`: why the form was refused; NULL: it has not been sent
 * yet. */
void sign_in_write(const struct page_request *request, const char *to, const char *why,
                   struct page_answer *answer);
