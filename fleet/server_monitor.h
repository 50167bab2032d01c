/* SPDX-License-Identifier: Apache-2.0 */
/* The server monitor of a cell: scrapes the server's own metrics while the cell is measured, from
 * an idle moment before the cell's first request to an idle moment after its last one, and reports
 * whether the server's counters agree with what was sent. */
#pragma once

#include "base/net/endpoint.h"
#include "store/ledger/sweeps.h"

struct server_monitor;

/* Waits until the server is idle (at most about 10 s, or 20 s if several instances answer in turn),
 * then scrapes it twice a second on a thread of its own. `instances`: the maximum number of
 * instances that answer at the address; 0: not known. Never returns NULL: the monitor of a server
 * without metrics reports that there are none. End with server_monitor_end. */
struct server_monitor *server_monitor_begin(const struct endpoint *endpoint, int64_t instances,
                                            const struct monitor_watch *watch);
/* Waits for the server to be idle again (at most about as long as at the beginning), fills *out and
 * frees the monitor. If the server no longer answers, waits up to a minute for it if requests had
 * failed, and 2 s otherwise. Does not wait if there were no metrics at the beginning. If `result`
 * is NULL, the attempt was interrupted: does not wait, and leaves *out empty. Free *out with
 * cross_check_finish. */
void server_monitor_end(struct server_monitor *monitor, const struct cell_result *result,
                        struct cross_check *out);
