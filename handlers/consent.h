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
    const char *name; /* names what the call would change or remove; `confirm` must repeat it */
    const char *key;  /* names the form's checkbox; the question's key begins with it */
    /* Identifies what the form shows, if `name` is not enough: an answer to a form with a different
     * identity does not count. NULL: `name` is enough. */
    const char *identity;
    const char *title;    /* label of the checkbox: "Remove it" */
    const char *plan;     /* what would be done, as the form shows it */
    const char *summary;  /* what would be done, in full sentences, for an error message */
    const char *declined; /* what stays as it is without consent: "demo stays registered" */
    /* How a person can agree if the client cannot ask its user. If this is set, `confirm` does not
     * count as consent. NULL: `confirm` counts. */
    const char *elsewhere;
};

/* Only for a tool's go_ahead(). Returns true if the client's user agrees, or if `elsewhere` is NULL
 * and `confirm` repeats the name. INVALID, only if `elsewhere` is NULL: `confirm` is a different
 * name, or the client cannot ask its user; in the second case, the error message contains the
 * summary and says how to confirm. FORBIDDEN, only if `elsewhere` is set: the client cannot ask its
 * user; the error message contains the summary and `elsewhere`. CANCELLED: the user did not agree.
 * Also fails whenever call->ask fails. */
CHECKED bool consent_get(struct call *call, const struct consent *consent, struct error *error);
