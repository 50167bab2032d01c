/* SPDX-License-Identifier: Apache-2.0 */
/* GET and POST /sign-in, POST /sign-out. */
#pragma once

struct exchange;

void page_sign_in_show(struct exchange *exchange);
void page_sign_in_submit(struct exchange *exchange);
void page_sign_out(struct exchange *exchange);
