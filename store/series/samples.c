/* SPDX-License-Identifier: Apache-2.0 */
#include "store/series/samples.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/memory.h"
#include "store/series/varint.h"

#define VERSION 1
#define SAMPLE_MAX (VARINT_MAX + VARINT_MAX) /* maximum bytes of one sample */

static uint8_t *put_value(uint8_t *out, double value)
{
    if (!is_whole(value)) {
        memcpy(out, &value, sizeof value); /* all supported machines are little-endian */
        return out + sizeof value;
    }
    return varint_put(out, zigzag((int64_t)value));
}

static bool get_value(const uint8_t **in, const uint8_t *end, bool whole, double *value)
{
    uint64_t bits;

    if (!whole) {
        if (end - *in < (ptrdiff_t)sizeof *value)
            return false;
        memcpy(value, *in, sizeof *value);
        *in += sizeof *value;
        return true;
    }
    if (!varint_get(in, end, &bits))
        return false;
    *value = (double)zigzag_back(bits);
    return true;
}

/* Sorts by series id, and samples of the same series by their position in the array. */
static int by_series(const void *a, const void *b)
{
    const struct sample *x = *(const struct sample *const *)a;
    const struct sample *y = *(const struct sample *const *)b;

    if (x->series != y->series)
        return x->series < y->series ? -1 : 1;
    return x < y ? -1 : x > y;
}

/* Usually there is nothing to sort: a metrics page lists its series in the same order each time,
 * and their ids were assigned in that order. */
static void sort(struct sample *samples, size_t count, struct sample **order)
{
    bool sorted = true;

    for (size_t i = 0; i < count; i++) {
        order[i] = &samples[i];
        sorted = sorted && (i == 0 || samples[i - 1].series <= samples[i].series);
    }
    if (!sorted)
        qsort(order, count, sizeof *order, by_series);
}

void samples_pack(struct sample *samples, size_t count, void **out, size_t *length)
{
    FREE_AUTO struct sample **order = memory_zeroed(count, sizeof *order);
    uint8_t *data = memory_zeroed(1 + count * SAMPLE_MAX, 1);
    uint8_t *end = data;
    int64_t last = 0;

    sort(samples, count, order);
    *end++ = VERSION;
    for (size_t i = 0; i < count; i++) {
        const struct sample *sample = order[i];

        if (i + 1 < count && order[i + 1]->series == sample->series)
            continue;
        uint64_t step = (uint64_t)(sample->series - last);
        end = varint_put(end, step << 1 | is_whole(sample->value));
        end = put_value(end, sample->value);
        last = sample->series;
    }
    *out = data;
    *length = (size_t)(end - data);
}

bool samples_unpack(const void *data, size_t length, struct sample **out, size_t *count,
                    struct error *error)
{
    const uint8_t *in = data, *end = in + length;
    /* `length` samples are more than enough: each has at least 2 bytes. */
    struct sample *samples = memory_zeroed(length, sizeof *samples);
    size_t found = 0;
    int64_t last = 0;
    bool ok = length > 0 && *in++ == VERSION;

    while (ok && in < end) {
        uint64_t step;

        ok = varint_get(&in, end, &step) && step > 1 && step / 2 <= (uint64_t)(INT64_MAX - last)
             && get_value(&in, end, (step & 1) != 0, &samples[found].value);
        if (ok)
            samples[found++].series = last += (int64_t)(step / 2);
    }
    if (!ok) {
        free(samples);
        return error_set(error, ERROR_INTERNAL, "a stored scrape is damaged (%zu bytes)", length);
    }
    *out = samples;
    *count = found;
    return true;
}
