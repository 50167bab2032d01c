/* SPDX-License-Identifier: Apache-2.0 */
/* Shows a person what will be done, and does it only with their consent. */
#pragma once

#include "handlers/tool.h"

/* A parameter of tools that ask for consent. */
#define PARAM_CONFIRM(what)                                                                        \
    {                                                                                              \
        "confirm", VALUE_TEXT, .low = 1, .high = 63,                                               \
                               .help = what " Without it the person is asked."                     \
    }

struct consent {
    const char *name;     /* the name of what it is about: `confirm` repeats it */
    const char *key;      /* of the question, and of the form's box */
    const char *title;    /* label of the box: "Remove it" */
    const char *plan;     /* what would be done, for the form; */
    const char *summary;  /* and a short form for an error's sentence */
    const char *declined; /* what remains unchanged: "demo stays registered" */
    /* How a person agrees where the client cannot ask: then `confirm` is none's word. NULL: it is.
     */
    const char *elsewhere;
};

/* Only for a tool's go_ahead(). Consent is given by `confirm`, or by the person at the client.
 * FORBIDDEN says what `elsewhere` does, if the client cannot ask. INVALID shows the summary and
 * says how to confirm, if the client cannot ask or `confirm` is a different name; CANCELLED: the
 * person did not agree. */
CHECKED bool consent_get(struct call *call, const struct consent *consent, struct error *error);
