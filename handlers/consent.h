/* SPDX-License-Identifier: Apache-2.0 */
/* Asks the user for consent to what a call is about to do. */
#pragma once

#include "handlers/tool.h"

/* A parameter of tools that ask for consent. */
#define PARAM_CONFIRM(what)                                                                        \
    {                                                                                              \
        "confirm", VALUE_TEXT, .low = 1, .high = 63,                                               \
                               .help = what " Without it, the user is asked."                      \
    }

struct consent {
    const char *name; /* what the call would change or remove; `confirm` must repeat this name */
    const char *key;  /* of the form's box; the key of the question begins with it */
    /* Identifies what the form shows, if `name` is not enough: an answer to a form with a different
     * identity does not count. NULL: `name` is enough. */
    const char *identity;
    const char *title;    /* label of the box: "Remove it" */
    const char *plan;     /* what would be done, as the form describes it */
    const char *summary;  /* what would be done, as an error describes it: whole sentences */
    const char *declined; /* what stays as it is without consent: "demo stays registered" */
    /* How a person agrees if the client cannot ask. If it is set, `confirm` does not count as
     * consent. NULL: `confirm` counts. */
    const char *elsewhere;
};

/* Only for a tool's go_ahead(). Returns true if the client's user agrees, or if `elsewhere` is NULL
 * and `confirm` repeats the name. If `elsewhere` is NULL, INVALID: `confirm` is a different name,
 * or the client cannot ask; in the second case the error shows the summary and says how to confirm.
 * If `elsewhere` is set, FORBIDDEN: the client cannot ask; the error repeats `elsewhere`.
 * CANCELLED: the user did not agree. Otherwise fails as call->ask does. */
CHECKED bool consent_get(struct call *call, const struct consent *consent, struct error *error);
