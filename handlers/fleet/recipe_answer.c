/* SPDX-License-Identifier: Apache-2.0 */
#include "handlers/fleet/recipe_answer.h"

#include <stdio.h>
#include <string.h>

#include "handlers/answer_row.h"

static json_t *show_origin(const void *member)
{
    return json_string(recipe_origin_name(*(const enum recipe_origin *)member));
}

const struct field recipe_answer_fields[] = {
    { "name", VALUE_TEXT, .help = "Its name.", ROW_TEXT(struct recipe, name) },
    { "title", VALUE_TEXT, .included = INCLUDED_OUTSIDE_LISTS, .help = "Title for people.",
      ROW_TEXT(struct recipe, title) },
    { "provider", VALUE_TEXT, .help = "Platform that it is for.",
      ROW_TEXT(struct recipe, provider) },
    { "engine", VALUE_TEXT, .included = INCLUDED_OUTSIDE_LISTS,
      .help = "Engine that serves the model.", ROW_TEXT(struct recipe, engine) },
    { "model", VALUE_TEXT, .help = "Checkpoint.", ROW_TEXT(struct recipe, model) },
    { "quantization", VALUE_TEXT, .included = INCLUDED_OUTSIDE_LISTS, .sparse = true,
      .help = "Number format of the weights.", ROW_TEXT(struct recipe, quantization) },
    { "hardware", VALUE_TEXT, .sparse = true, .help = "Accelerator.",
      ROW_TEXT(struct recipe, hardware) },
    { "chips", VALUE_INTEGER, .sparse = true, .help = "Number of accelerators for one replica.",
      ROW_INTEGER(struct recipe, chips) },
    { "status", VALUE_TEXT,
      .help = "verified: its source ran it; reported: its source says that it works; cannot_work.",
      ROW_TEXT(struct recipe, status) },
    { "reason", VALUE_TEXT, .included = INCLUDED_OUTSIDE_LISTS, .sparse = true,
      .help = "Why it cannot work.", ROW_TEXT(struct recipe, reason) },
    { "origin", VALUE_TEXT, .included = INCLUDED_OUTSIDE_LISTS,
      .help = "catalogue, folder (the team's) or imported.", .show = show_origin,
      .offset = offsetof(struct recipe, origin) },
    { "revision", VALUE_INTEGER, .included = INCLUDED_OUTSIDE_LISTS,
      .help = "Incremented by every change.", ROW_INTEGER(struct recipe, revision) },
    { 0 },
};

json_t *recipe_answer_json(const struct recipe *recipe)
{
    return answer_row_take(recipe_answer_fields, recipe, NULL);
}

const char *recipe_answer_hardware(const struct recipe *recipe, char out[RECIPE_HARDWARE_SIZE])
{
    if (recipe->hardware[0] == '\0')
        return "-";
    snprintf(out, RECIPE_HARDWARE_SIZE, "%lld x %s", (long long)recipe->chips, recipe->hardware);
    return out;
}

const char *recipe_answer_status(const struct recipe *recipe)
{
    return strcmp(recipe->status, "cannot_work") == 0 ? "cannot work" : recipe->status;
}
