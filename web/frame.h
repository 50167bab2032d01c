/* SPDX-License-Identifier: Apache-2.0 */
/* The frame of all pages. */
#pragma once

#include "web/page.h"

/* Writes the whole document around answer->body: head, navigation, who is signed in. */
void frame_write(const struct page_request *request, const struct page_answer *answer,
                 struct text *out);
/* Fills the answer to a request that was refused or failed: status, title and the contents of
 * <main>. */
void frame_refusal(unsigned status, const char *message, struct page_answer *answer);
