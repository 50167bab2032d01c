/* SPDX-License-Identifier: Apache-2.0 */
/* Draws PNG pictures, and keeps the most recently used ones, so that they are not drawn again. They
 * are found by the digest of what they show. Callers check beforehand who is allowed to see the
 * figures. Thread safe. */
#pragma once

#include "analysis/charts/drawing.h"
#include "base/core/error.h"

#define PICTURES_BYTES_MAX ((size_t)8 << 20) /* about 200 pictures of the usual size */
#define PICTURES_AT_ONCE 2                   /* drawing one keeps a processor busy for 0.1 s */

struct pictures;

/* `bytes_max`: the maximum size of all kept pictures together. */
struct pictures *pictures_create(size_t bytes_max);
void pictures_destroy(struct pictures *pictures); /* does nothing for NULL */

/* Appends the PNG file's bytes to `out`: the kept picture, or a new one. At most PICTURES_AT_ONCE
 * are drawn at the same time. A call waits while that many are being drawn, or while another call
 * is drawing the same picture. Fails as raster_write does. `pictures` NULL: draws without waiting,
 * and keeps nothing. */
CHECKED bool pictures_draw(struct pictures *pictures, const struct drawing *drawing,
                           enum theme theme, struct text *out, struct error *error);

struct pictures_counts {
    uint64_t drawn;  /* how many pictures were drawn */
    uint64_t reused; /* how many times a kept picture was used */
    size_t bytes;    /* the size of the pictures that are kept now */
};
struct pictures_counts pictures_count(struct pictures *pictures); /* zeros for NULL */
