/* SPDX-License-Identifier: Apache-2.0 */
/* The second witness of a cell: watches a server's own metrics while the cell is measured, from an
 * idle point before its first request to one behind its last, and says whether they agree with what
 * was sent. */
#pragma once

#include "base/net/endpoint.h"
#include "store/ledger/sweeps.h"

struct server_monitor;

/* Waits until the server is idle, at most about 10 s, then scrapes it twice a second on a thread of
 * its own. `instances`: how many there may be behind the address; 0: not known. Never NULL: a
 * server without metrics makes a witness that says so. */
struct server_monitor *server_monitor_begin(const struct endpoint *endpoint, int64_t instances,
                                            const struct witness_watch *watch);
/* Waits for the server to be idle again (one that went away: to be back, at most a minute), fills
 * *out and frees the witness. `result` NULL: the attempt was interrupted; nothing is told, at once.
 */
void server_monitor_end(struct server_monitor *witness, const struct cell_result *result,
                        struct cross_check *out);
