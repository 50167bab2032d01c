/* SPDX-License-Identifier: Apache-2.0 */
#include "handlers/charts/pictures.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/charts/raster.h"
#include "analysis/charts/svg.h"
#include "base/core/digest.h"
#include "base/core/memory.h"

struct picture {
    struct picture *next;
    uint8_t digest[DIGEST_BYTES];
    bool is_drawn; /* false: a call is drawing it */
    struct text png;
};

struct pictures {
    pthread_mutex_t lock;
    pthread_cond_t changed; /* signals that a picture was drawn, or could not be */
    struct picture *newest; /* the most recently used picture; `next` is the one used before it */
    size_t bytes_max;
    unsigned drawing; /* how many pictures are being drawn */
    struct pictures_counts counts;
};

struct pictures *pictures_create(size_t bytes_max)
{
    struct pictures *pictures = memory_zeroed(1, sizeof *pictures);

    pthread_mutex_init(&pictures->lock, NULL);
    pthread_cond_init(&pictures->changed, NULL);
    pictures->bytes_max = bytes_max;
    return pictures;
}

static void drop(struct pictures *pictures, struct picture **at)
{
    struct picture *picture = *at;

    *at = picture->next;
    pictures->counts.bytes -= picture->png.length;
    text_finish(&picture->png);
    free(picture);
}

void pictures_destroy(struct pictures *pictures)
{
    if (pictures == NULL)
        return;
    while (pictures->newest != NULL)
        drop(pictures, &pictures->newest);
    pthread_cond_destroy(&pictures->changed);
    pthread_mutex_destroy(&pictures->lock);
    free(pictures);
}

/* ---- Under the lock ---- */

/* Finds a picture and makes it the newest; NULL: it is neither kept nor being drawn. */
static struct picture *find(struct pictures *pictures, const uint8_t digest[DIGEST_BYTES])
{
    for (struct picture **at = &pictures->newest; *at != NULL; at = &(*at)->next) {
        struct picture *found = *at;

        if (memcmp(found->digest, digest, DIGEST_BYTES) != 0)
            continue;
        *at = found->next;
        found->next = pictures->newest;
        pictures->newest = found;
        return found;
    }
    return NULL;
}

static void begin(struct pictures *pictures, const uint8_t digest[DIGEST_BYTES])
{
    struct picture *picture = memory_zeroed(1, sizeof *picture);

    memcpy(picture->digest, digest, DIGEST_BYTES);
    picture->next = pictures->newest;
    pictures->newest = picture;
    pictures->drawing++;
}

/* Removes the least recently used pictures until the others fit. Keeps those that are being drawn,
 * which have no bytes yet. */
static void make_room(struct pictures *pictures)
{
    while (pictures->counts.bytes > pictures->bytes_max) {
        struct picture **oldest = NULL;

        for (struct picture **at = &pictures->newest; *at != NULL; at = &(*at)->next)
            if ((*at)->is_drawn)
                oldest = at;
        drop(pictures, oldest);
    }
}

/* Keeps the picture that was drawn. `png` NULL: it could not be drawn, and the calls that wait for
 * it try again. */
static void end(struct pictures *pictures, const uint8_t digest[DIGEST_BYTES],
                const struct text *png)
{
    struct picture *picture = find(pictures, digest);

    pictures->drawing--;
    if (png == NULL) {
        drop(pictures, &pictures->newest);
    } else {
        picture->is_drawn = true;
        text_add_bytes(&picture->png, png->data, png->length);
        pictures->counts.bytes += png->length;
        pictures->counts.drawn++;
        make_room(pictures);
    }
    pthread_cond_broadcast(&pictures->changed);
}

/* Appends the kept picture. Waits while another call is drawing it, or while too many pictures are
 * being drawn. Returns false if the caller must draw the picture, and then call end(). */
static bool find_or_begin(struct pictures *pictures, const uint8_t digest[DIGEST_BYTES],
                          struct text *out)
{
    for (;;) {
        struct picture *kept = find(pictures, digest);

        if (kept != NULL && kept->is_drawn) {
            text_add_bytes(out, kept->png.data, kept->png.length);
            pictures->counts.reused++;
            return true;
        }
        if (kept == NULL && pictures->drawing < PICTURES_AT_ONCE) {
            begin(pictures, digest);
            return false;
        }
        pthread_cond_wait(&pictures->changed, &pictures->lock);
    }
}

/* ---- Drawing ---- */

static void digest_of(const struct drawing *drawing, enum theme theme, uint8_t out[DIGEST_BYTES])
{
    TEXT_AUTO svg = { 0 };

    svg_write(drawing, theme == THEME_DARK ? SVG_DARK : SVG_LIGHT, &svg);
    digest_sha256(svg.data, svg.length, out);
}

bool pictures_draw(struct pictures *pictures, const struct drawing *drawing, enum theme theme,
                   struct text *out, struct error *error)
{
    uint8_t digest[DIGEST_BYTES];
    TEXT_AUTO png = { 0 };
    bool found, drawn;

    if (pictures == NULL)
        return raster_write(drawing, theme, out, error);
    digest_of(drawing, theme, digest);
    pthread_mutex_lock(&pictures->lock);
    found = find_or_begin(pictures, digest, out);
    pthread_mutex_unlock(&pictures->lock);
    if (found)
        return true;
    drawn = raster_write(drawing, theme, &png, error);
    pthread_mutex_lock(&pictures->lock);
    end(pictures, digest, drawn ? &png : NULL);
    pthread_mutex_unlock(&pictures->lock);
    text_add_bytes(out, png.data, png.length);
    return drawn;
}

struct pictures_counts pictures_count(struct pictures *pictures)
{
    struct pictures_counts counts = { 0 };

    if (pictures == NULL)
        return counts;
    pthread_mutex_lock(&pictures->lock);
    counts = pictures->counts;
    pthread_mutex_unlock(&pictures->lock);
    return counts;
}
