/* SPDX-License-Identifier: Apache-2.0 */
/* The known hardware and models: catalog/hardware.json and catalog/models.json, embedded into the
 * program. Every row names its source. A value that is missing from a row is NAN rather than zero:
 * it is not known, or does not apply. */
#pragma once

#include <stddef.h>

#include "base/core/error.h"

struct catalog;

enum number_format {
    FORMAT_BF16,
    FORMAT_FP16,
    FORMAT_FP8,
    FORMAT_INT8,
    FORMAT_FP4,
    FORMAT_W4A16, /* only the weights have 4 bits; computes in bf16 */
    FORMAT_COUNT,
};

/* One accelerator: a card or a chip. */
struct hardware {
    const char *name, *title;
    const char **aliases;            /* ends with NULL */
    double memory_bytes;             /* 1 GB = 1e9 */
    double visible_bytes;            /* how much of that programs can use; NAN: not known */
    double bandwidth_bytes_per_s;    /* of the memory */
    double peak_flops[FORMAT_COUNT]; /* per second, dense; a multiply-add counts as two */
    const char *source, *as_of;      /* as_of: YYYY-MM-DD */
};

struct model {
    const char *name;                     /* as servers call it: "google/gemma-4-12B-it" */
    const char **aliases;                 /* ends with NULL */
    double parameters, active_parameters; /* active: used for one token */
    double layers, kv_layers;             /* kv_layers: those with their own keys and values */
    /* Of the layers with a sliding window; if no layer has one, of all layers: */
    double kv_heads, head_size;
    /* In a model with sliding windows, of the kv_layers that attend to the whole context: */
    double full_layers, full_kv_heads, full_head_size;
    double window_tokens, context_tokens;
    double weight_bytes[FORMAT_COUNT];
    const char *source, *as_of;
};

/* Reads the embedded files. INTERNAL if one is malformed, or a row is incomplete. */
CHECKED bool catalog_create(struct catalog **out, struct error *error);
/* Reads these JSON arrays instead of the embedded files, for tests. INVALID if one is malformed, or
 * a row is incomplete. */
CHECKED bool catalog_parse(const char *hardware_json, const char *models_json, struct catalog **out,
                           struct error *error);
void catalog_destroy(struct catalog *catalog); /* does nothing for NULL */

/* All rows, borrowed; `count` is their number. */
const struct hardware *catalog_hardware(const struct catalog *catalog, size_t *count);
const struct model *catalog_models(const struct catalog *catalog, size_t *count);
/* Finds the row whose name, alias or (for hardware) title is `text`, or occurs in it as a separate
 * word, ignoring case. The longest match wins. Returns NULL if nothing matches, or if several rows
 * tie for the longest match. */
const struct hardware *catalog_find_hardware(const struct catalog *catalog, const char *text);
const struct model *catalog_find_model(const struct catalog *catalog, const char *text);
