/* SPDX-License-Identifier: Apache-2.0 */
/* Two limits on what principals other than admins can store: part of the data folder's disk is
 * reserved for admins and for running jobs, and each principal can store only a limited number of
 * bytes. */
#pragma once

#include "store/ledger/change.h"

struct disk_space {
    int64_t total_bytes, free_bytes;
    int64_t reserve_bytes; /* 0: nothing is reserved */
};

/* The usual `share` in disk_space_reserve: at most a tenth of the disk is reserved. */
#define DISK_SPACE_SHARE 10

/* Reserves `bytes` of the disk, but at most the fraction 1 / share of the disk. 0 bytes: reserves
 * nothing. Call this before other threads use the store. */
void disk_space_reserve(struct store *store, int64_t bytes, int64_t share);
/* Reads the disk's current state. If that fails, or disk_space_reserve was never called, the disk
 * counts as having room: INT64_MAX bytes are free, and nothing is reserved. */
void disk_space_read(const struct store *store, struct disk_space *out);
/* Call this before adding data that is not needed to finish or clean up anything. BUSY: some space
 * is reserved, and no more than that is free. */
CHECKED bool disk_space_check(const struct store *store, struct error *error);

/* Approximately how many bytes of each kind a principal has stored or caused to be stored. Other
 * kinds, such as the audit log, are not counted. */
struct usage {
    int64_t imports_bytes, datasets_bytes, sweeps_bytes, deployments_bytes;
};
CHECKED bool usage_read(struct store *store, const char *principal, struct usage *out,
                        struct error *error);
/* CONFLICT: the principal has stored `limit_bytes` (0: no limit) or more; the error says how much
 * of each kind. */
CHECKED bool usage_check(struct store *store, const char *principal, int64_t limit_bytes,
                         struct error *error);
