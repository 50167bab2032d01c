/* SPDX-License-Identifier: Apache-2.0 */
/* The exporters, and functions that they share. Private to analysis/export/. */
#pragma once

#include "analysis/export/export.h"

void export_write_vllm(const struct evidence *evidence, size_t first, size_t count,
                       struct text *out);
void export_write_aiperf(const struct evidence *evidence, size_t first, size_t count,
                         struct text *out);
void export_write_csv(const struct evidence *evidence, size_t first, size_t count,
                      struct text *out);
void export_write_serving_report(const struct evidence *evidence, size_t first, size_t count,
                                 struct text *out);

/* These add a member only if its value is known. */
void export_number(json_t *object, const char *name, double value);
void export_text(json_t *object, const char *name, const char *value);
/* The latency as measured by tools that start the clock when they send a request: `sent` if
 * the cell has it, as the cells of our own open loops do, else `metric`. */
const struct evidence_latency *export_sent(const struct evidence_cell *cell, enum metric metric,
                                           enum metric sent);
/* The latency without the percentiles that are only lower bounds; also without the maximum if p99
 * is one of them. */
struct evidence_latency export_latency(const struct evidence_latency *latency);
/* Adds a line of compact JSON. */
void export_line(const json_t *object, struct text *out);
/* Adds members of our own: the format, by which our importers recognise the vLLM and aiperf files
 * that we wrote; the run; its tool; and what the format has no place for: the cell's warnings, its
 * variant, an input length that is not counted in tokens. */
void export_own_members(json_t *json, const char *format, const struct evidence *evidence,
                        const struct evidence_cell *cell);
#define EXPORT_TIME_SIZE 48
/* When the cell was measured, or else when our own run was created, as ISO 8601; "": not known, or
 * the file gives it in a different form. The time of an import is not used. Returns `out`. */
const char *export_time(const struct evidence *evidence, const struct evidence_cell *cell,
                        char out[EXPORT_TIME_SIZE]);
