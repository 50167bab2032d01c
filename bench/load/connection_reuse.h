/* SPDX-License-Identifier: Apache-2.0 */
/* What is known about how many requests a server accepts on one connection. After a certain number
 * of answers, some servers close a connection without announcing it, and a request that is sent at
 * that moment is lost. A cell's threads share this knowledge; a sweep passes it on from cell to
 * cell. */
#pragma once

#include <stdatomic.h>

/* Both members are 0 while nothing is known. */
struct connection_reuse {
    atomic_int most;  /* the most answers noted on one connection (transfer_note_answer) */
    atomic_int limit; /* the server closes a connection after this many answers; 0: not known */
};
