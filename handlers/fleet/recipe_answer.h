/* SPDX-License-Identifier: Apache-2.0 */
/* Shows recipes in the answers of tools. */
#pragma once

#include "fleet/recipes/recipe.h"
#include "handlers/tool.h"

extern const struct field recipe_answer_fields[];

/* A summary of the recipe; new reference. */
json_t *recipe_answer_json(const struct recipe *recipe);
/* Writes the hardware, such as "1 x nvidia-l4", to `out`, and returns it; returns "-" if the recipe
 * names no accelerator. */
#define RECIPE_HARDWARE_SIZE 80
const char *recipe_answer_hardware(const struct recipe *recipe, char out[RECIPE_HARDWARE_SIZE]);
/* "verified", "reported" or "cannot work"; borrowed from the recipe. */
const char *recipe_answer_status(const struct recipe *recipe);
