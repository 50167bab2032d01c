/* SPDX-License-Identifier: Apache-2.0 */
/* Lists, page by page, the things that have resources, such as deployments and runs. */
#pragma once

#include "handlers/services.h"

#define INSTANCE_VALUE_SIZE 64 /* enough for a name or an id */

struct instance {
    char value[INSTANCE_VALUE_SIZE];
    char title[160];    /* follows the value in a list: "of llama, completed"; "": none */
    int64_t changed_ms; /* when the thing last changed, as far as its row shows; 0: not known */
};

struct resource_instances {
    const char *noun; /* "deployment" */
    /* Lists at most `limit` things, always in the same order, after the cursor `after` ("": from
     * the start). `next` is "" on the last page. INVALID: an invalid cursor. free(*out). */
    CHECKED bool (*list)(const struct services *services, const char *after, size_t limit,
                         struct instance **out, size_t *count, char next[INSTANCE_VALUE_SIZE],
                         struct error *error);
    /* Checks that the thing exists. NOT_FOUND: the message names it. */
    CHECKED bool (*find)(const struct services *services, const char *value, struct error *error);
};

extern const struct resource_instances deployment_instances, sweep_instances, run_instances,
    job_instances;

/* Refuses the client's cursor. `after`: the whole cursor, or the part of it that list() received.
 * Always returns false, with INVALID. */
CHECKED bool resource_cursor_refuse(const char *after, struct error *error);
