/* SPDX-License-Identifier: Apache-2.0 */
/* Prompts and lengths that users import for their sweeps. A dataset never changes, because runs
 * refer to it. dataset_pack (bench/workload/dataset.h) makes the `data` that is stored. */
#pragma once

#include "store/ledger/change.h"

#define DATASET_NAME_SIZE 64

struct dataset_entry {
    char name[DATASET_NAME_SIZE];
    char digest[65];    /* from dataset_digest (bench/workload/dataset.h) */
    char kind[16];      /* "prompts" or "lengths" */
    char principal[64]; /* who imported it */
    int64_t rows;       /* how many of the file's records can be used */
    int64_t skipped;    /* how many of them cannot */
    int64_t file_bytes, created_ms;
    char *lengths; /* JSON, heap: statistics of the lengths in tokens */
};
void dataset_entry_finish(struct dataset_entry *entry);
void dataset_entries_free(struct dataset_entry *entries, size_t count);

/* Stores a dataset, with the principal of `change` and the time `now_ms`, and its audit row.
 * *existed: there already was a dataset with this name and digest, so only the audit row is added.
 * CONFLICT: a different dataset has this name. */
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
