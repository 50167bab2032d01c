/* SPDX-License-Identifier: Apache-2.0 */
/* The frame that all pages share. */
#pragma once

#include "web/page.h"

/* Writes the whole document around answer->body: the head, the navigation, and who is signed in. */
void frame_write(const struct page_request *request, const struct page_answer *answer,
                 struct text *out);
/* Fills the answer to a request that was refused or failed: the status, the title and the contents
 * of <main>. */
void frame_refusal(unsigned status, const char *message, struct page_answer *answer);
