/* SPDX-License-Identifier: Apache-2.0 */
/* What is known about how many requests a server accepts on one connection. Some servers close a
 * connection after an answer without notice, and a request sent meanwhile is lost. Shared by
 * a cell's threads; a sweep keeps it from cell to cell. */
#pragma once

#include <stdatomic.h>

/* Zero: nothing is known. */
struct connection_reuse {
    atomic_int most;  /* the most answers noted on one connection (transfer_note_answer) */
    atomic_int limit; /* the server closes a connection after this many answers; 0: not known */
};
