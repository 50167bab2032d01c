/* SPDX-License-Identifier: Apache-2.0 */
/* A request for a page: who asks, what it holds, and its function on a worker. */
#pragma once

#include <stdbool.h>

struct exchange;

/* The routes' functions. */
bool page_exchange_admit(struct exchange *exchange, const char *path);
void page_exchange_serve(struct exchange *exchange);
