/* SPDX-License-Identifier: Apache-2.0 */
/* The keys of managed deployments. A key is sent only to its server's address, as the adoption or
 * the last plan that was carried out stored it, and is kept in memory only. */
#pragma once

#include "base/net/endpoint.h"
#include "fleet/managed/fleet_frame.h"
#include "store/ledger/deployments.h"

struct managed_locks; /* thread-safe */

/* `frame` is borrowed. Free with managed_locks_destroy. */
struct managed_locks *managed_locks_create(const struct fleet_frame *frame);
/* Wipes the keys. No endpoint may use a lock any more. Does nothing for NULL. */
void managed_locks_destroy(struct managed_locks *locks);
/* As access_locks.find (fleet/secret_access.h). */
CHECKED bool managed_locks_find(struct managed_locks *locks, const struct deployment *deployment,
                                const struct endpoint_lock **out, struct error *error);
