#include "store/samples.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define VERSION 1
#define VARINT_MAX 10
#define SAMPLE_MAX (VARINT_MAX + VARINT_MAX) /* bytes of one */
#define WHOLE_LIMIT 9007199254740992.0       /* 2^53: doubles below are exact integers */

static uint8_t *put_varint(uint8_t *out, uint64_t value)
{
    while (value >= 0x80) {
        *out++ = (uint8_t)(value | 0x80);
        value >>= 7;
    }
    *out++ = (uint8_t)value;
    return out;
}

static bool get_varint(const uint8_t **in, const uint8_t *end, uint64_t *value)
{
    uint64_t result = 0;

    for (unsigned shift = 0; shift < 64 && *in < end; shift += 7) {
        uint8_t byte = *(*in)++;

        result |= (uint64_t)(byte & 0x7f) << shift;
        if ((byte & 0x80) == 0) {
            *value = result;
            return true;
        }
    }
    return false;
}

static bool is_whole(double value)
{
    return fabs(value) < WHOLE_LIMIT && value == trunc(value) && !(value == 0 && signbit(value));
}

static uint8_t *put_value(uint8_t *out, double value)
{
    if (!is_whole(value)) {
        memcpy(out, &value, sizeof value); /* little endian on all our machines */
        return out + sizeof value;
    }
    int64_t whole = (int64_t)value;
    return put_varint(out, ((uint64_t)whole << 1) ^ (whole < 0 ? UINT64_MAX : 0));
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
    if (!get_varint(in, end, &bits))
        return false;
    *value = (double)(int64_t)((bits >> 1) ^ (0 - (bits & 1)));
    return true;
}

/* Equal ones stay in order: the sort is by series and place. */
static int by_series(const void *a, const void *b)
{
    const struct sample *x = *(const struct sample *const *)a;
    const struct sample *y = *(const struct sample *const *)b;

    if (x->series != y->series)
        return x->series < y->series ? -1 : 1;
    return x < y ? -1 : x > y;
}

void samples_pack(struct sample *samples, size_t count, void **out, size_t *length)
{
    FREE_AUTO struct sample **order = memory_zeroed(count, sizeof *order);
    uint8_t *data = memory_zeroed(1 + count * SAMPLE_MAX, 1);
    uint8_t *end = data;
    int64_t last = 0;

    for (size_t i = 0; i < count; i++)
        order[i] = &samples[i];
    qsort(order, count, sizeof *order, by_series);
    *end++ = VERSION;
    for (size_t i = 0; i < count; i++) {
        const struct sample *sample = order[i];

        if (i + 1 < count && order[i + 1]->series == sample->series)
            continue;
        uint64_t step = (uint64_t)(sample->series - last);
        end = put_varint(end, step << 1 | is_whole(sample->value));
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
    struct sample *samples = memory_zeroed(length, sizeof *samples); /* each is 2 bytes or more */
    size_t found = 0;
    int64_t last = 0;
    bool ok = length > 0 && *in++ == VERSION;

    while (ok && in < end) {
        uint64_t step;

        ok = get_varint(&in, end, &step) && step > 1 && step / 2 <= (uint64_t)(INT64_MAX - last)
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
