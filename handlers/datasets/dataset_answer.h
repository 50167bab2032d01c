/* SPDX-License-Identifier: Apache-2.0 */
/* Shows datasets in the answers of tools. */
#pragma once

#include "bench/workload/dataset.h"
#include "handlers/answer.h"
#include "store/ledger/datasets.h"

extern const struct field dataset_fields[]; /* what dataset_json returns; ends with a NULL name */
json_t *dataset_json(const struct dataset_entry *entry); /* new reference */
/* Adds one line: the dataset's name, the number of its rows, and their lengths. */
void dataset_describe(const struct dataset_entry *entry, struct text *out);
/* The member `lengths` of dataset_json; new reference. */
json_t *dataset_lengths_json(const struct dataset *dataset);
