/* SPDX-License-Identifier: Apache-2.0 */
/* Asks a person to consent to what a call is about to do. */
#pragma once

#include "handlers/tool.h"

/* A parameter of tools that ask for consent. */
#define PARAM_CONFIRM(what)                                                                        \
    {                                                                                              \
        "confirm", VALUE_TEXT, .low = 1, .high = 63,                                               \
                               .help = what " Without it the person is asked."                     \
    }

struct consent {
    const char *name;     /* name of the thing concerned, which `confirm` repeats */
    const char *key;      /* keys of the question, and of the form's box */
    const char *thing;    /* identifies what the person is shown, if `name` is not enough: an answer
                             counts for this value alone. NULL: `name` is enough */
    const char *title;    /* label of the box: "Remove it" */
    const char *plan;     /* what would be done, for the form; */
    const char *summary;  /* and a short form for an error's sentence */
    const char *declined; /* what stays as it is without consent: "demo stays registered" */
    /* If the client cannot ask, how a person agrees elsewhere: `confirm` then does not count as
     * consent. NULL: it does. */
    const char *elsewhere;
};

/* Only for a tool's go_ahead(). Consent is given by `confirm`, or by the person at the client.
 * FORBIDDEN, with the text of `elsewhere`, if the client cannot ask. INVALID shows the summary and
 * says how to confirm, if the client cannot ask or `confirm` is a different name; CANCELLED: the
 * person did not agree. */
CHECKED bool consent_get(struct call *call, const struct consent *consent, struct error *error);
