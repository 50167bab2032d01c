/* SPDX-License-Identifier: Apache-2.0 */
/* Learns how many requests a server accepts on one connection. Some servers close it after an
 * answer without notice, and a request sent meanwhile is lost. Shared by threads, and kept from
 * cell to cell. */
#pragma once

#include <stdatomic.h>

/* Zero: nothing is known. */
struct connection_reuse {
    atomic_int most;  /* answers received on one connection */
    atomic_int limit; /* the server closed it after this many; 0: it never did */
};
