/* SPDX-License-Identifier: Apache-2.0 */
/* The known hardware and models: catalog/hardware.json and catalog/models.json, embedded into the
 * program. Every row names its source. A value that a row does not have is NAN: not known or not
 * applicable, rather than zero. */
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
    FORMAT_W4A16, /* only weights have 4 bits; computed in bf16 */
    FORMAT_COUNT,
};

/* One accelerator: a card or a chip. */
struct hardware {
    const char *name, *title;
    const char **aliases;            /* ends with NULL */
    double memory_bytes;             /* 1 GB = 1e9 */
    double visible_bytes;            /* the part of it that programs can use; NAN: not known */
    double bandwidth_bytes_per_s;    /* of its memory */
    double peak_flops[FORMAT_COUNT]; /* per second; dense, multiply and add counted separately */
    const char *source, *as_of;      /* as_of: YYYY-MM-DD */
};

struct model {
    const char *name;                     /* as servers call it: "google/gemma-4-12B-it" */
    const char **aliases;                 /* ends with NULL */
    double parameters, active_parameters; /* active: used for one token */
    double layers, kv_layers;             /* kv_layers keep keys and values of their own */
    double kv_heads, head_size; /* of layers with a sliding window; of all, if none has one */
    /* Of those kv_layers that attend to the whole context, if others have a sliding window: */
    double full_layers, full_kv_heads, full_head_size;
    double window_tokens, context_tokens;
    double weight_bytes[FORMAT_COUNT];
    const char *source, *as_of;
};

/* Reads the embedded files. INTERNAL if one is malformed, or a row is incomplete. */
CHECKED bool catalog_create(struct catalog **out, struct error *error);
/* Reads two JSON arrays instead, for tests. INVALID if one is malformed, or a row is
 * incomplete. */
CHECKED bool catalog_parse(const char *hardware_json, const char *models_json, struct catalog **out,
                           struct error *error);
void catalog_destroy(struct catalog *catalog); /* does nothing for NULL */

/* All rows, borrowed; `count` is their number. */
const struct hardware *catalog_hardware(const struct catalog *catalog, size_t *count);
const struct model *catalog_models(const struct catalog *catalog, size_t *count);
/* Finds a row by its name, one of its aliases or, for hardware, its title; case does not matter.
 * `text` is one of these, or contains one as a separate word; the longest match wins. Returns NULL
 * if nothing matches, or if several rows have a match of the longest length. */
const struct hardware *catalog_find_hardware(const struct catalog *catalog, const char *text);
const struct model *catalog_find_model(const struct catalog *catalog, const char *text);
