/* SPDX-License-Identifier: Apache-2.0 */
/* How many requests a server takes on one connection. Some close it after an answer and do not say
 * so; what is sent meanwhile is lost. Shared by threads, and kept from cell to cell. */
#pragma once

#include <stdatomic.h>

/* Zero: nothing is known. */
struct connection_reuse {
    atomic_int most;  /* answers that came on one connection */
    atomic_int limit; /* after so many the server closed it; 0: it never did */
};
