/* SPDX-License-Identifier: Apache-2.0 */
/* What is known about how many requests a server accepts on one connection. Some servers close a
 * connection after an answer without notice, and a request sent meanwhile is lost. Shared by
 * threads, and kept from cell to cell. */
#pragma once

#include <stdatomic.h>

/* Zero: nothing is known. */
struct connection_reuse {
    atomic_int most;  /* the most answers that were received on one connection */
    atomic_int limit; /* the server closes a connection after this many answers; 0: not known */
};
