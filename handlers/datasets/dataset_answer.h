/* SPDX-License-Identifier: Apache-2.0 */
/* Shows datasets in the answers of tools. */
#pragma once

#include "bench/workload/dataset.h"
#include "handlers/answer.h"
#include "store/ledger/datasets.h"

extern const struct field dataset_fields[];
json_t *dataset_json(const struct dataset_entry *entry); /* new reference */
/* Adds one line: the dataset's name, how many prompts or lengths it has, how long they are, and how
 * many prompts are repeated and records were skipped. */
void dataset_describe(const struct dataset_entry *entry, struct text *out);
/* The object that dataset_json returns in the member `lengths`; new reference. */
json_t *dataset_lengths_json(const struct dataset *dataset);
