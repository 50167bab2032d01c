/* SPDX-License-Identifier: Apache-2.0 */
/* How much room there is: on the disk of the data folder, part of which is reserved for running
 * jobs and admins, and for each principal. */
#pragma once

#include "store/ledger/change.h"

struct disk_space {
    int64_t total_bytes, free_bytes;
    int64_t reserve_bytes; /* kept; 0: none */
};

#define DISK_SPACE_SHARE 10

/* Keeps `bytes` of the disk, but at most one of `share` parts of it. Before anything else is done
 * with the store. */
void disk_space_reserve(struct store *store, int64_t bytes, int64_t share);
/* As it is now. If it cannot be found out, the disk counts as having room. */
void disk_space_read(const struct store *store, struct disk_space *out);
/* Checked before something grows that need not be finished or cleaned up. BUSY: only the reserve is
 * left, or less. */
CHECKED bool disk_space_check(const struct store *store, struct error *error);

/* What a principal has stored or caused to be stored, except the audit log. */
struct usage {
    int64_t imports_bytes, datasets_bytes, sweeps_bytes, deployments_bytes;
};
CHECKED bool usage_read(struct store *store, const char *principal, struct usage *out,
                        struct error *error);
/* CONFLICT: the principal has `limit_bytes` (0: any) or more; the sentence says of what. */
CHECKED bool usage_check(struct store *store, const char *principal, int64_t limit_bytes,
                         struct error *error);
