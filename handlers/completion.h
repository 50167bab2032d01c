/* SPDX-License-Identifier: Apache-2.0 */
/* Lists possible values for an argument of a prompt, or for the variable of a resource template. */
#pragma once

#include "handlers/prompt.h"
#include "handlers/resource.h"

/* At most this many values are returned. */
#define COMPLETION_VALUES_MAX 100
/* At most this many names of existing things, or ids (the newest), are searched for values. */
#define COMPLETION_SEARCHED_MAX 1000

struct completion {
    /* The possible values that begin with what was typed, in either case: a list of at most
     * COMPLETION_VALUES_MAX strings. Owned by the caller. */
    json_t *values;
    size_t total; /* how many values were found, including those that did not fit into `values` */
};

/* NOT_FOUND: there is no such prompt or template; INVALID: it has no such argument or variable. For
 * an argument that takes any text, `values` is empty. */
CHECKED bool completion_of_prompt(const struct prompt *const *table,
                                  const struct services *services, const char *name,
                                  const char *argument, const char *typed, struct completion *out,
                                  struct error *error);
CHECKED bool completion_of_resource(const struct resource *const *table,
                                    const struct services *services, const char *uri_template,
                                    const char *argument, const char *typed, struct completion *out,
                                    struct error *error);
