/* SPDX-License-Identifier: Apache-2.0 */
/* Colours that look alike are written as one of them: the colour that most of their pixels have, if
 * there is such a majority. The palette contains the most frequent of these colours. Those that it
 * lacks are at the edges of letters, where the nearest colour of the palette is good enough. */
#include "analysis/charts/png.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/core/memory.h"

#define PALETTE_SIZE 128      /* with twice as many, files are a tenth larger and look the same */
#define SLOTS 65536           /* of the table of colours; a drawing has a few thousand colours */
#define COMPRESSION 8         /* of zlib: 9 takes twice as long, for files 4 % smaller */
#define COLOUR_MASK 0xF8F8F8u /* finer differences are invisible */

struct colour {
    uint32_t key;   /* the same for colours that look alike */
    uint32_t rgb;   /* one of them, which stands for all: see vote() */
    uint32_t votes; /* for `rgb`, not yet cancelled by votes for others: see vote() */
    uint32_t count; /* of pixels; 0: the slot is free */
    uint8_t index;  /* in the palette */
};

struct colours {
    struct colour *slots;
    uint32_t palette[PALETTE_SIZE];
    size_t palette_count;
};

/* ---- Palette ---- */

/* The slot of the pixel's colour, or a free one: the table has more slots than there are keys. */
static struct colour *slot_of(const struct colours *colours, uint32_t pixel)
{
    uint32_t key = pixel & COLOUR_MASK, at = key * 2654435761u >> 16;

    while (colours->slots[at].count > 0 && colours->slots[at].key != key)
        at = (at + 1) % SLOTS;
    return &colours->slots[at];
}

/* Like slot_of(), but faster, because many pixels look like the one before. `last`: the slot of
 * that pixel; NULL: this is the first pixel. */
static struct colour *next_slot(const struct colours *colours, struct colour *last, uint32_t pixel)
{
    return last != NULL && last->key == (pixel & COLOUR_MASK) ? last : slot_of(colours, pixel);
}

/* How many pixels from `x` on are the same. In a drawing, they are often most of a row. */
static size_t run_at(const uint32_t *row, size_t x, size_t width)
{
    const uint32_t pixel = row[x];
    size_t end = x + 1;

    while (end < width && row[end] == pixel)
        end++;
    return end - x;
}

/* Boyer and Moore's majority vote, for `times` equal pixels. */
static void vote(struct colour *slot, uint32_t pixel, uint32_t times)
{
    uint32_t rgb = pixel & 0xFFFFFFu;

    slot->key = pixel & COLOUR_MASK;
    slot->count += times;
    if (slot->votes > 0 && slot->rgb == rgb)
        slot->votes += times;
    else if (slot->votes >= times)
        slot->votes -= times;
    else {
        slot->rgb = rgb;
        slot->votes = times - slot->votes;
    }
}

static int by_count(const void *a, const void *b)
{
    const struct colour *left = *(struct colour *const *)a, *right = *(struct colour *const *)b;

    if (left->count != right->count)
        return left->count > right->count ? -1 : 1;
    return left->key < right->key ? -1 : left->key > right->key;
}

static int channel(uint32_t rgb, int shift)
{
    return (int)(rgb >> shift & 0xFF);
}

static uint8_t nearest(const struct colours *colours, uint32_t rgb)
{
    size_t best = 0;
    int least = INT32_MAX;

    for (size_t i = 0; i < colours->palette_count; i++) {
        int distance = 0;

        for (int shift = 0; shift <= 16; shift += 8) {
            int difference = channel(rgb, shift) - channel(colours->palette[i], shift);

            distance += difference * difference;
        }
        if (distance < least) {
            least = distance;
            best = i;
        }
    }
    return (uint8_t)best;
}

static size_t count_colours(struct colours *colours, const uint32_t *pixels, size_t width,
                            size_t height, size_t stride)
{
    struct colour *slot = NULL;
    size_t found = 0;

    for (size_t y = 0; y < height; y++)
        for (size_t x = 0, run; x < width; x += run) {
            const uint32_t *row = pixels + y * stride;

            run = run_at(row, x, width);
            slot = next_slot(colours, slot, row[x]);
            found += slot->count == 0;
            vote(slot, row[x], (uint32_t)run);
        }
    return found;
}

/* Chooses the palette, and gives each colour the index of its entry, or of the nearest entry. */
static void choose_palette(struct colours *colours, size_t found)
{
    FREE_AUTO struct colour **sorted = memory_zeroed(found + 1, sizeof(struct colour *));
    size_t count = 0;

    for (size_t i = 0; i < SLOTS; i++)
        if (colours->slots[i].count > 0)
            sorted[count++] = &colours->slots[i];
    qsort(sorted, count, sizeof(struct colour *), by_count);
    for (size_t i = 0; i < count && i < PALETTE_SIZE; i++)
        colours->palette[colours->palette_count++] = sorted[i]->rgb;
    for (size_t i = 0; i < count; i++)
        sorted[i]->index = i < PALETTE_SIZE ? (uint8_t)i : nearest(colours, sorted[i]->rgb);
}

/* ---- The file ---- */

static void add_word(struct text *out, uint32_t value)
{
    uint32_t word = htonl(value);

    text_add_bytes(out, (const char *)&word, sizeof word);
}

static void add_chunk(struct text *out, const char *type, const void *data, size_t length)
{
    uLong sum = crc32(crc32(0, NULL, 0), (const Bytef *)type, 4);

    add_word(out, (uint32_t)length);
    text_add_bytes(out, type, 4);
    text_add_bytes(out, data, length);
    add_word(out, (uint32_t)(length > 0 ? crc32(sum, data, (uInt)length) : sum));
}

static void add_header(struct text *out, size_t width, size_t height)
{
    const uint32_t size[] = { htonl((uint32_t)width), htonl((uint32_t)height) };
    uint8_t header[13] = { 0 };

    memcpy(header, size, sizeof size);
    header[8] = 8; /* bits per index */
    header[9] = 3; /* colour type: palette */
    add_chunk(out, "IHDR", header, sizeof header);
}

static void add_palette(struct text *out, const struct colours *colours)
{
    uint8_t bytes[3 * PALETTE_SIZE];

    for (size_t i = 0; i < colours->palette_count; i++)
        for (int c = 0; c < 3; c++)
            bytes[3 * i + (size_t)c] = (uint8_t)channel(colours->palette[i], 16 - 8 * c);
    add_chunk(out, "PLTE", bytes, 3 * colours->palette_count);
}

/* Writes the rows of indices, each after a zero byte, which says that no filter is applied: indices
 * compress best without one. */
static void add_pixels(struct text *out, const struct colours *colours, const uint32_t *pixels,
                       size_t width, size_t height, size_t stride)
{
    size_t length = height * (width + 1);
    uLongf packed_length = compressBound(length);
    FREE_AUTO uint8_t *rows = memory_zeroed(length, 1), *packed = memory_zeroed(packed_length, 1);
    struct colour *slot = NULL;

    for (size_t y = 0; y < height; y++)
        for (size_t x = 0, run; x < width; x += run) {
            const uint32_t *row = pixels + y * stride;

            run = run_at(row, x, width);
            slot = next_slot(colours, slot, row[x]);
            memset(rows + y * (width + 1) + 1 + x, slot->index, run);
        }
    compress2(packed, &packed_length, rows, length, COMPRESSION);
    add_chunk(out, "IDAT", packed, packed_length);
}

void png_write(const uint32_t *pixels, size_t width, size_t height, size_t stride, struct text *out)
{
    struct colours colours = { .slots = memory_zeroed(SLOTS, sizeof *colours.slots) };

    choose_palette(&colours, count_colours(&colours, pixels, width, height, stride));
    text_add_bytes(out, "\x89PNG\r\n\x1a\n", 8);
    add_header(out, width, height);
    add_palette(out, &colours);
    add_pixels(out, &colours, pixels, width, height, stride);
    add_chunk(out, "IEND", NULL, 0);
    free(colours.slots);
}
