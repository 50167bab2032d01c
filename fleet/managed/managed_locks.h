/* SPDX-License-Identifier: Apache-2.0 */
/* The keys of managed deployments, each behind a lock (struct endpoint_lock). A key is sent only to
 * the address that was stored for its server when the server was adopted or when the last plan was
 * carried out. Keys are kept only in memory. */
#pragma once

#include "base/net/endpoint.h"
#include "fleet/managed/fleet_frame.h"
#include "store/ledger/deployments.h"

struct managed_locks; /* thread-safe */

/* `frame` is borrowed. Free with managed_locks_destroy. */
struct managed_locks *managed_locks_create(const struct fleet_frame *frame);
/* Wipes the keys. No endpoint may use a lock any longer. Does nothing for NULL. */
void managed_locks_destroy(struct managed_locks *locks);
/* Like access_locks.find (fleet/secret_access.h). */
CHECKED bool managed_locks_find(struct managed_locks *locks, const struct deployment *deployment,
                                const struct endpoint_lock **out, struct error *error);
