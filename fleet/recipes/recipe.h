/* SPDX-License-Identifier: Apache-2.0 */
/* A recipe: how one model is served on one provider's hardware. It is a JSON object, whose text has
 * at most RECIPE_BYTES_MAX bytes; recipe_members.c has the table of its members, and
 * docs/recipes.md lists them. Recipes come from catalog/recipes, from the team's folder, or from an
 * import. */
#pragma once

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "base/core/error.h"

#define RECIPE_BYTES_MAX 65536
#define RECIPE_NAME_SIZE 64

/* Who vouches for a recipe: opsbrain, whoever administers the team's folder, or the user who
 * imported it. */
enum recipe_origin { RECIPE_CATALOGUE = 1, RECIPE_FOLDER, RECIPE_IMPORTED };
const char *recipe_origin_name(enum recipe_origin origin); /* "catalogue", ...; static */

struct recipe {
    char name[RECIPE_NAME_SIZE];
    int64_t revision;
    enum recipe_origin origin; /* recipe_parse and recipe_read leave it 0; their caller sets it */
    char title[128];
    char provider[32]; /* "cloud_run", "cloud_tpu", "compute_engine", "kubernetes", "local" */
    char engine[32];   /* "vllm", "ollama", "llama.cpp", ... */
    char model[256];   /* as the engine loads it */
    char quantization[32];
    char image[512];   /* "": the document has a `program` or a `service` instead */
    char hardware[64]; /* a name from catalog/hardware.json; "": whatever the machine has */
    int64_t chips;     /* accelerators per replica; 0: `hardware` is "" */
    char status[16];   /* "verified", "reported" or "cannot_work" */
    char reason[512];  /* if `status` is "cannot_work": why */
    char source[512];  /* where the recipe is from */
    char as_of[16];    /* the source's date, YYYY-MM-DD */
    json_t *document;  /* the complete recipe; each member has the right type and is in range */
};

/* Checks and reads a recipe. INVALID if it is too long, is not a JSON object, lacks a member or has
 * a wrong one; the message says why, but does not repeat a credential. Free with recipe_finish. */
CHECKED bool recipe_parse(const char *json, size_t length, struct recipe *out, struct error *error);
/* The same for a JSON value of any length, which is copied. */
CHECKED bool recipe_read(const json_t *document, struct recipe *out, struct error *error);
void recipe_finish(struct recipe *recipe); /* does nothing for a zeroed one */

/* Copies the recipe, replacing values with those in `overrides`, such as {"max_model_len": 8192}.
 * The recipe's own "overrides" say which members it opens (lets have other values), and which
 * values it allows for each. NULL or {} changes nothing. INVALID, for example, if the recipe does
 * not open a member or does not allow the value: the message says what the recipe opens or allows.
 * Image, command, mounts, accounts and environment (except Ollama's context length) can never be
 * opened. Free with recipe_finish. */
CHECKED bool recipe_override(const struct recipe *recipe, const json_t *overrides,
                             struct recipe *out, struct error *error);
/* The same, but the values are strings: {"max_model_len": "8192"}. */
CHECKED bool recipe_override_texts(const struct recipe *recipe, const json_t *overrides,
                                   struct recipe *out, struct error *error);
/* Returns the members that the recipe opens, with their present values and ranges:
 * {"max_model_len": {"value": 16384, "least": 1024, "most": 16384}, ...}. New reference. */
json_t *recipe_overrides(const struct recipe *recipe);

/* Returns the engine's command line as a list of strings: `command`, then the arguments that are
 * not false. In each word of `command` and each argument that is a string, the deployment's name
 * replaces the first "{deployment}". New reference. */
json_t *recipe_argv(const struct recipe *recipe, const char *deployment);
/* Finds a member by its path, such as "host.cpu" or "arguments.--max-model-len". Returns NULL if
 * there is none. Borrowed. */
const json_t *recipe_member(const struct recipe *recipe, const char *path);
/* The next three return `fallback` if there is no such member, or if it has another type. */
int64_t recipe_integer(const struct recipe *recipe, const char *path, int64_t fallback);
double recipe_number(const struct recipe *recipe, const char *path, double fallback);
const char *recipe_text(const struct recipe *recipe, const char *path, const char *fallback);
/* Returns true if the list of strings at `path` contains `text`. */
bool recipe_lists(const struct recipe *recipe, const char *path, const char *text);
