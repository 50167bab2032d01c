/* SPDX-License-Identifier: Apache-2.0 */
/* What is shown to a person, and done only with his consent. */
#pragma once

#include "handlers/tool.h"

/* A parameter of tools that ask. */
#define PARAM_CONFIRM(what)                                                                        \
    {                                                                                              \
        "confirm", VALUE_TEXT, .low = 1, .high = 63, .help = what " Without: the person is asked." \
    }

struct consent {
    const char *name;     /* of what it is about: `confirm` repeats it */
    const char *key;      /* of the question, and of the form's box */
    const char *title;    /* of the box: "Remove it" */
    const char *plan;     /* what would be done, for the form; */
    const char *summary;  /* and short enough for an error's sentence */
    const char *declined; /* what stays as it is: "demo stays registered" */
};

/* For a tool's go_ahead() alone. By `confirm`, or by the person at the client. INVALID shows the
 * summary and says how to confirm, where the client cannot be asked or `confirm` is another name;
 * CANCELLED: the person did not agree. */
CHECKED bool consent_get(struct call *call, const struct consent *consent, struct error *error);
