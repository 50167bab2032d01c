/* SPDX-License-Identifier: Apache-2.0 */
/* The frame of all pages. */
#pragma once

#include "web/page.h"

/* The whole document around answer->body: head, navigation, who is signed in. */
void frame_write(const struct page_request *request, const struct page_answer *answer,
                 struct text *out);
/* The contents of <main> for a refused request. */
void frame_refusal(unsigned status, const char *message, struct page_answer *answer);
