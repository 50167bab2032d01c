/* SPDX-License-Identifier: Apache-2.0 */
/* The style sheet and the scripts of the pages, embedded. A library of its own: a report that is
 * one file carries the style sheet as well. */
#pragma once

#include <stddef.h>

struct asset {
    const char *name;     /* "style.css" */
    const char *type;     /* its media type */
    const char *bytes;    /* ended by a NUL */
    const size_t *length; /* without it */
    const char *digest;   /* in its URL, so that a browser may keep it: "/assets/style.css?v=..." */
};
extern const struct asset assets[];               /* ends with a NULL name */
const struct asset *asset_find(const char *name); /* NULL: there is none */
