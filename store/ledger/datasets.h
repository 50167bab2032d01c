/* SPDX-License-Identifier: Apache-2.0 */
/* Prompts and lengths that people import for their sweeps: never changed, since runs point at them.
 * What `data` holds is written and read by bench/workload/dataset.h. */
#pragma once

#include "store/ledger/change.h"

#define DATASET_NAME_SIZE 64

struct dataset_entry {
    char name[DATASET_NAME_SIZE], digest[65], kind[16], principal[64];
    int64_t rows, skipped, file_bytes, created_ms;
    char *lengths; /* JSON, heap */
};
void dataset_entry_finish(struct dataset_entry *entry);
void dataset_entries_free(struct dataset_entry *entries, size_t count);

/* Stores a dataset with its audit row; `entry` has no principal and time. If one of this name and
 * digest exists: *existed; if another one has the name: CONFLICT. */
CHECKED bool dataset_entry_create(struct store *store, const struct dataset_entry *entry,
                                  const void *data, size_t length, int64_t now_ms,
                                  struct change *change, bool *existed, struct error *error);
/* NOT_FOUND names it. `data` (heap) may be NULL. */
CHECKED bool dataset_entry_find(struct store *store, const char *name, struct dataset_entry *out,
                                void **data, size_t *length, struct error *error);
/* By name. */
CHECKED bool dataset_entry_list(struct store *store, struct dataset_entry **out, size_t *count,
                                struct error *error);
