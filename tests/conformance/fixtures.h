/* SPDX-License-Identifier: Apache-2.0 */
/* Tools, resources and prompts that the official conformance suite calls by name, and that the
 * product does not have. `main.c` passes their tables to the server. */
#pragma once

#include "handlers/prompt.h"
#include "handlers/resource.h"
#include "handlers/tool.h"

/* Each table ends with a row whose name is NULL. */
extern const struct tool content_tools[]; /* answer at once */
extern const struct tool asking_tools[];  /* ask the client for input */
/* Send messages to the client before they answer. */
extern const struct tool notifying_tools[];
extern const struct tool task_tools[]; /* start jobs */
extern const struct job_kind fixture_job_kinds[];
extern const struct resource fixture_resources[];
extern const struct prompt fixture_prompts[];

extern const struct param fixture_no_params[];
extern const char fixture_image[]; /* one red pixel, as a content block */

/* Parses a JSON literal of the fixtures; aborts if it is invalid. The caller releases the result.
 */
json_t *fixture_json(const char *text);
/* Asks the client to fill in a form with one text field, `name`. On success the caller releases
 * *answers; on failure, `error` is of kind ERROR_UNSUPPORTED if the client does not support forms.
 */
bool fixture_ask_for(struct call *call, const char *key, const char *message, const char *name,
                     json_t **answers, struct error *error);
/* Returns the text entered into the field `name` of the form `key`; "nobody" if there is none, as
 * when the form was declined. Borrowed from `answers`. */
const char *fixture_entered(const json_t *answers, const char *key, const char *name);
