/* SPDX-License-Identifier: Apache-2.0 */
/* Prompts and lengths that users import for their sweeps. A dataset never changes, because runs
 * refer to it. dataset_pack (bench/workload/dataset.h) makes the `data` that is stored. */
#pragma once

#include "store/ledger/change.h"

#define DATASET_NAME_SIZE 64

struct dataset_entry {
    char name[DATASET_NAME_SIZE], digest[65], kind[16], principal[64];
    int64_t rows, skipped; /* how many of the file's records are usable, and how many are not */
    int64_t file_bytes, created_ms;
    char *lengths; /* JSON, heap: statistics of the lengths in tokens */
};
void dataset_entry_finish(struct dataset_entry *entry);
void dataset_entries_free(struct dataset_entry *entries, size_t count);

/* Stores a dataset with its audit row; sets the principal and the time. *existed: there was already
 * a dataset with this name and digest. CONFLICT: a different dataset has this name. */
CHECKED bool dataset_entry_create(struct store *store, const struct dataset_entry *entry,
                                  const void *data, size_t length, int64_t now_ms,
                                  struct change *change, bool *existed, struct error *error);
/* Finds a dataset by its name, with its data (heap) unless `data` is NULL. NOT_FOUND: the message
 * names the dataset. Free *out with dataset_entry_finish. */
CHECKED bool dataset_entry_find(struct store *store, const char *name, struct dataset_entry *out,
                                void **data, size_t *length, struct error *error);
/* Lists up to 1,000 datasets in order of name. Free with dataset_entries_free. */
CHECKED bool dataset_entry_list(struct store *store, struct dataset_entry **out, size_t *count,
                                struct error *error);
