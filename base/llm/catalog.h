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
    FORMAT_W4A16, /* the weights have 4 bits; the computation is in bf16 */
    FORMAT_COUNT,
};

/* One accelerator: a card or a chip. */
struct hardware {
    const char *name, *title;
    const char **aliases;         /* ends with NULL */
    double memory_bytes;          /* nominal size; 1 GB is 1e9 bytes */
    double visible_bytes;         /* the part of the memory that programs can use; NAN: not known */
    double bandwidth_bytes_per_s; /* of the memory */
    double peak_flops[FORMAT_COUNT]; /* dense operations/s; a multiply-add counts as two */
    const char *source, *as_of;      /* as_of: date of the figures, YYYY-MM-DD */
};

struct model {
    const char *name;                     /* as servers call it: "google/gemma-4-12B-it" */
    const char **aliases;                 /* ends with NULL */
    double parameters, active_parameters; /* active_parameters: those used for one token */
    double layers, kv_layers;             /* kv_layers: those with their own keys and values */
    /* `kv_heads`: key-value heads in a layer. `head_size`: values in a head. If the model has
     * layers with a sliding window, these two apply to those layers; otherwise, to all layers. */
    double kv_heads, head_size;
    /* NAN if no layer has a sliding window. `full_layers`: how many of the kv_layers attend to the
     * whole context. full_kv_heads and full_head_size: what kv_heads and head_size are in those
     * layers. */
    double full_layers, full_kv_heads, full_head_size;
    double window_tokens;  /* the width of a sliding window; NAN: no layer has one */
    double context_tokens; /* the longest context: a prompt and its answer */
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
/* Finds the row whose name, alias or (for hardware) title occurs in `text` as a separate word,
 * ignoring case. The longest match wins. Returns NULL if nothing matches, or if several rows
 * tie for the longest match. */
const struct hardware *catalog_find_hardware(const struct catalog *catalog, const char *text);
const struct model *catalog_find_model(const struct catalog *catalog, const char *text);
