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
/* Returns the latency counted from the time when the request was sent, as other tools count it.
 * This is the latency `sent` if the cell has it, as in our own open loops, else `metric`. */
const struct evidence_latency *export_sent(const struct evidence_cell *cell, enum metric metric,
                                           enum metric sent);
/* Returns the latency without the percentiles that are only lower bounds. If p99 is one of them,
 * the maximum is omitted, too. */
struct evidence_latency export_latency(const struct evidence_latency *latency);
/* Adds a line of compact JSON. */
void export_line(const json_t *object, struct text *out);
/* Adds members of our own: the format (by which our importers recognize the vLLM and aiperf files
 * that we wrote), the run, and the run's tool. Also adds what the format has no place for: the
 * cell's warnings, its variant, and an input length that is not known to be in tokens. */
void export_own_members(json_t *json, const char *format, const struct evidence *evidence,
                        const struct evidence_cell *cell);
#define EXPORT_TIME_SIZE 48
/* Sets `out` to a time in the form of ISO 8601, and returns it: for an import, the time that the
 * file states for the cell; for our own run, the time when the run was created. "": the file states
 * no time, or states it in a form that is not recognized. */
const char *export_time(const struct evidence *evidence, const struct evidence_cell *cell,
                        char out[EXPORT_TIME_SIZE]);
