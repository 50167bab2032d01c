/* SPDX-License-Identifier: Apache-2.0 */
/* Recipes in answers. */
#pragma once

#include "fleet/recipes/recipe.h"
#include "handlers/tool.h"

extern const struct field recipe_answer_fields[]; /* fields of a summary */

json_t *recipe_answer_json(const struct recipe *recipe); /* new reference */
/* "1 x nvidia-l4"; "-" if it takes whatever the machine has. */
#define RECIPE_HARDWARE_SIZE 80
const char *recipe_answer_hardware(const struct recipe *recipe, char out[RECIPE_HARDWARE_SIZE]);
/* "reported", or "cannot work". */
const char *recipe_answer_status(const struct recipe *recipe);
