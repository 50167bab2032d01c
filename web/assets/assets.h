/* SPDX-License-Identifier: Apache-2.0 */
/* The style sheet and the scripts of the pages, embedded. A separate library, because a report as
 * one file also contains the style sheet. */
#pragma once

#include <stddef.h>

struct asset {
    const char *name;     /* "style.css" */
    const char *type;     /* its media type */
    const char *bytes;    /* ended by a NUL */
    const size_t *length; /* without the NUL */
    /* part of its URL, so that a browser may cache it: "/assets/style.css?v=..." */
    const char *digest;
};
extern const struct asset assets[];               /* ends with a NULL name */
const struct asset *asset_find(const char *name); /* NULL: there is none */
