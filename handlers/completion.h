/* SPDX-License-Identifier: Apache-2.0 */
/* Lists possible values for an argument of a prompt, or for the variable of a resource template. */
#pragma once

#include "handlers/prompt.h"
#include "handlers/resource.h"

#define COMPLETION_VALUES_MAX 100    /* at most this many values are returned */
#define COMPLETION_SEARCHED_MAX 1000 /* at most this many names, or newest ids, are searched */

struct completion {
    json_t *values; /* texts that begin with what was typed; owned by the caller */
    size_t total;   /* how many of the choices, or of the searched names or ids, match */
};

/* NOT_FOUND: there is no such prompt or template; INVALID: it has no such argument. For an
 * argument that takes any text, `values` is empty. */
CHECKED bool completion_of_prompt(const struct prompt *const *table,
                                  const struct services *services, const char *name,
                                  const char *argument, const char *typed, struct completion *out,
                                  struct error *error);
CHECKED bool completion_of_resource(const struct resource *const *table,
                                    const struct services *services, const char *uri_template,
                                    const char *argument, const char *typed, struct completion *out,
                                    struct error *error);
