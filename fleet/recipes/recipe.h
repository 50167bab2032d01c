/* SPDX-License-Identifier: Apache-2.0 */
/* A recipe: how one model is served on one provider's hardware. It is a JSON object of at most
 * RECIPE_BYTES_MAX bytes, whose members are the rows of recipe_members.c; docs/recipes.md lists
 * them. Recipes come from catalog/recipes, from the team's folder, or were imported. */
#pragma once

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "base/core/error.h"

#define RECIPE_BYTES_MAX 65536
#define RECIPE_NAME_SIZE 64

/* Who vouches for it. Recipes of the first two are on this machine's disk, put there by its admin.
 */
enum recipe_origin { RECIPE_CATALOGUE = 1, RECIPE_FOLDER, RECIPE_IMPORTED };
const char *recipe_origin_name(enum recipe_origin origin); /* "catalogue", ...; static */

struct recipe {
    char name[RECIPE_NAME_SIZE];
    int64_t revision;
    enum recipe_origin origin; /* set by who reads it; recipe_parse leaves 0 */
    char title[128];
    char provider[32]; /* "cloud_run", "cloud_tpu", "compute_engine", "kubernetes", "local" */
    char engine[32];   /* "vllm", "ollama", "llama.cpp", ... */
    char model[256];   /* as the engine loads it */
    char quantization[32];
    char image[512];   /* "": it runs `program` of the document */
    char hardware[64]; /* a name of catalog/hardware.json; "": whatever the machine has */
    int64_t chips;     /* accelerators of one replica */
    char status[16];   /* "verified", "reported" or "cannot_work" */
    char reason[512];  /* of cannot_work */
    char source[512];  /* where it was read */
    char as_of[16];    /* when: YYYY-MM-DD */
    json_t *document;  /* the whole recipe, checked: every member has its type and its range */
};

/* Checks and reads a recipe. INVALID says in one sentence which member has which fault. `out` is
 * the caller's (recipe_finish). */
CHECKED bool recipe_parse(const char *json, size_t length, struct recipe *out, struct error *error);
/* The same from a tree, which is borrowed and copied. */
CHECKED bool recipe_read(const json_t *document, struct recipe *out, struct error *error);
void recipe_finish(struct recipe *recipe); /* does nothing for a zeroed one */

/* The recipe with other values for members that it opens in `overrides`, within its ranges:
 * {"max_model_len": 8192}. INVALID names the override, and what the recipe opens. Image, command,
 * mounts, accounts and environment can never be opened. NULL or {}: a copy. */
CHECKED bool recipe_override(const struct recipe *recipe, const json_t *overrides,
                             struct recipe *out, struct error *error);
/* The same with its values as texts, as a call gives them: {"max_model_len": "8192"}. */
CHECKED bool recipe_override_texts(const struct recipe *recipe, const json_t *overrides,
                                   struct recipe *out, struct error *error);
/* {"max_model_len": {"value": 16384, "least": 1024, "most": 16384}, ...}. New reference. */
json_t *recipe_overrides(const struct recipe *recipe);

/* The program's arguments as a list of texts, `command` first, with the deployment's name for
 * "{deployment}". New reference. */
json_t *recipe_argv(const struct recipe *recipe, const char *deployment);
/* A member by its path, "host.cpu" or "arguments.--max-model-len"; NULL: it is not there. Borrowed.
 */
const json_t *recipe_member(const struct recipe *recipe, const char *path);
int64_t recipe_integer(const struct recipe *recipe, const char *path, int64_t fallback);
double recipe_number(const struct recipe *recipe, const char *path, double fallback);
const char *recipe_text(const struct recipe *recipe, const char *path, const char *fallback);
/* Whether the list of texts at `path` contains it. */
bool recipe_lists(const struct recipe *recipe, const char *path, const char *text);
