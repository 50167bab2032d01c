/* SPDX-License-Identifier: Apache-2.0 */
/* The style sheets, the scripts and the icon of the pages, embedded into the program. They are a
 * separate library, because two other libraries use them: a report that is saved as one file
 * contains the style sheets, and the page of the chart app contains marks.js. */
#pragma once

#include <stddef.h>

struct asset {
    const char *name;     /* "style.css" */
    const char *type;     /* its media type */
    const char *bytes;    /* end with a NUL */
    const size_t *length; /* without the NUL */
    /* part of its URL, so that a browser can cache it: "/assets/style.css?v=..." */
    const char *digest;
};
extern const struct asset assets[];               /* ends with a NULL name */
const struct asset *asset_find(const char *name); /* NULL: there is none */
