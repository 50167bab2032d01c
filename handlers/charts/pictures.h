/* SPDX-License-Identifier: Apache-2.0 */
/* Drawings as PNG. Each is drawn once; the newest are kept, by the digest of what they show.
 * Callers check beforehand who may see the figures. Thread safe. */
#pragma once

#include "analysis/charts/drawing.h"
#include "base/core/error.h"

#define PICTURES_BYTES_MAX ((size_t)8 << 20) /* about two hundred of the usual size */
#define PICTURES_AT_ONCE 2                   /* a drawing keeps a processor busy for 0.1 s */

struct pictures;

/* `bytes_max`: of all that are kept together. */
struct pictures *pictures_create(size_t bytes_max);
void pictures_destroy(struct pictures *pictures); /* does nothing for NULL */

/* Appends the file's bytes, from memory or newly drawn. At most PICTURES_AT_ONCE are drawn at the
 * same time, and each only once: other calls wait. Fails as raster_write does. NULL: nothing is
 * kept. */
CHECKED bool pictures_draw(struct pictures *pictures, const struct drawing *drawing,
                           enum theme theme, struct text *out, struct error *error);

struct pictures_counts {
    uint64_t drawn, reused;
    size_t bytes; /* kept at present */
};
struct pictures_counts pictures_count(struct pictures *pictures); /* zeros for NULL */
