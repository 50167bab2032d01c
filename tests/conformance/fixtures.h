/* SPDX-License-Identifier: Apache-2.0 */
/* Tools, resources and prompts that the official conformance suite calls by name, and that the
 * product does not have. One table per file; `main.c` passes them to the server. */
#pragma once

#include "handlers/prompt.h"
#include "handlers/resource.h"
#include "handlers/tool.h"

/* Each ends with a NULL name. */
extern const struct tool content_tools[]; /* answers of every kind of content */
extern const struct tool asking_tools[];  /* tools that ask the client */
extern const struct tool
    notifying_tools[];                 /* tools that send the client messages before they answer */
extern const struct tool task_tools[]; /* tools that start jobs */
extern const struct job_kind fixture_job_kinds[];
extern const struct resource fixture_resources[];
extern const struct prompt fixture_prompts[];

extern const struct param fixture_no_params[];
extern const char fixture_image[]; /* one red pixel, as a content block */

/* Parses our own JSON text; new reference. */
json_t *fixture_json(const char *text);
/* Asks for a form with the one text member `name`. */
bool fixture_ask_for(struct call *call, const char *key, const char *message, const char *name,
                     json_t **answers, struct error *error);
/* What was entered for a member of a form; "nobody" if it was declined. Borrowed. */
const char *fixture_entered(const json_t *answers, const char *key, const char *name);
