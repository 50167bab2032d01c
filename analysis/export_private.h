/* What exporters share. Private to analysis/export*.c. */
#pragma once

#include "analysis/export.h"

void export_write_vllm(const struct evidence *evidence, size_t first, size_t count,
                       struct text *out);
void export_write_aiperf(const struct evidence *evidence, size_t first, size_t count,
                         struct text *out);
void export_write_csv(const struct evidence *evidence, size_t first, size_t count,
                      struct text *out);
void export_write_serving_report(const struct evidence *evidence, size_t first, size_t count,
                                 struct text *out);

/* Members that are left out where they are not known. */
void export_number(json_t *object, const char *name, double value);
void export_text(json_t *object, const char *name, const char *value);
/* The metric as tools count it that start the clock when they send: of our own open loops `sent`,
 * else `metric`. */
const struct evidence_latency *export_sent(const struct evidence_cell *cell, enum metric metric,
                                           enum metric sent);
/* The latency without what is only known to be "at least" so. */
struct evidence_latency export_latency(const struct evidence_latency *latency);
/* A line of compact JSON. */
void export_line(const json_t *object, struct text *out);
