/* SPDX-License-Identifier: Apache-2.0 */
#include "store/ledger/disk_space.h"

#include <sys/statvfs.h>

#include "store/ledger/store_private.h"

#define MIB 1048576.0

void disk_space_reserve(struct store *store, int64_t bytes, int64_t share)
{
    store->reserve_bytes = bytes;
    store->reserve_share = share;
}

void disk_space_read(const struct store *store, struct disk_space *out)
{
    struct statvfs status;

    *out = (struct disk_space){ .total_bytes = INT64_MAX, .free_bytes = INT64_MAX };
    if (store->reserve_share == 0 || statvfs(store->folder, &status) != 0)
        return;
    out->total_bytes = (int64_t)(status.f_blocks * status.f_frsize);
    out->free_bytes = (int64_t)(status.f_bavail * status.f_frsize);
    out->reserve_bytes = out->total_bytes / store->reserve_share;
    if (out->reserve_bytes > store->reserve_bytes)
        out->reserve_bytes = store->reserve_bytes;
}

bool disk_space_check(const struct store *store, struct error *error)
{
    struct disk_space disk;

    if (store->reserve_bytes == 0)
        return true;
    disk_space_read(store, &disk);
    return disk.free_bytes > disk.reserve_bytes
           || error_set(
               error, ERROR_BUSY,
               "the disk of the data folder is nearly full: %.1f MiB are free, and %.1f "
               "MiB (setting disk_reserve_bytes) are reserved for running jobs and admins; "
               "an admin must free or add space",
               (double)disk.free_bytes / MIB, (double)disk.reserve_bytes / MIB);
}
