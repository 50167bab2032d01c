/* SPDX-License-Identifier: Apache-2.0 */
#include "store/series/column_codec.h"

#include <string.h>

#include "store/series/varint.h"

enum mode { MODE_AS_PREDICTED, MODE_WHOLE, MODE_BITS };

/* In MODE_BITS, a byte with this bit stands for a wrong prediction. Bits 3 to 5 of the byte say how
 * many leading zero bytes the XOR of the bits of value and prediction has, and bits 0 to 2 how many
 * trailing zero bytes. The other bytes of the XOR follow. A byte without the bit MISS stands for a
 * run of right predictions; its value is their number minus one. */
#define MISS 0x80
#define HITS_MAX 128
#define MISS_MAX 9 /* maximum bytes of one wrong prediction */

static double predict(const struct prediction *prediction, const double *values, size_t i)
{
    double base = prediction->base == NULL ? 0 : prediction->base[i];

    return prediction->chained && i > 0 ? values[i - 1] + base : base;
}

static uint64_t bits_of(double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* MODE_WHOLE requires differences below 2^53, because larger ones would not be restored exactly. */
static enum mode mode_for(const double *values, size_t count, const struct prediction *prediction)
{
    bool hit = true, whole = true;

    for (size_t i = 0; i < count && (hit || whole); i++) {
        double predicted = predict(prediction, values, i);

        hit = hit && bits_of(predicted) == bits_of(values[i]);
        whole =
            whole && is_whole(values[i]) && is_whole(predicted) && is_whole(values[i] - predicted);
    }
    return hit ? MODE_AS_PREDICTED : whole ? MODE_WHOLE : MODE_BITS;
}

static uint8_t *put_hits(uint8_t *to, size_t *hits)
{
    if (*hits > 0)
        to = varint_put(to, (uint64_t)*hits << 1);
    *hits = 0;
    return to;
}

/* Writes a difference as an odd number, and a run of right predictions as twice its length. */
static uint8_t *pack_whole(uint8_t *to, const double *values, size_t count,
                           const struct prediction *prediction)
{
    size_t hits = 0;

    for (size_t i = 0; i < count; i++) {
        int64_t difference = (int64_t)values[i] - (int64_t)predict(prediction, values, i);

        if (difference == 0) {
            hits++;
            continue;
        }
        to = put_hits(to, &hits);
        to = varint_put(to, zigzag(difference) << 1 | 1);
    }
    return put_hits(to, &hits);
}

static uint8_t *put_miss(uint8_t *to, uint64_t wrong_bits)
{
    unsigned front = (unsigned)__builtin_clzll(wrong_bits) / 8;
    unsigned back = (unsigned)__builtin_ctzll(wrong_bits) / 8;
    size_t length = 8 - front - back;

    *to++ = (uint8_t)(MISS | front << 3 | back);
    wrong_bits >>= back * 8;
    memcpy(to, &wrong_bits, length); /* all supported machines are little-endian */
    return to + length;
}

static uint8_t *pack_bits(uint8_t *to, const double *values, size_t count,
                          const struct prediction *prediction)
{
    size_t hits = 0;

    for (size_t i = 0; i < count; i++) {
        uint64_t wrong_bits = bits_of(values[i]) ^ bits_of(predict(prediction, values, i));

        hits += wrong_bits == 0;
        if (hits > 0 && (wrong_bits != 0 || hits == HITS_MAX || i + 1 == count)) {
            *to++ = (uint8_t)(hits - 1);
            hits = 0;
        }
        if (wrong_bits != 0)
            to = put_miss(to, wrong_bits);
    }
    return to;
}

void column_codec_pack(struct text *out, const double *values, size_t count,
                       const struct prediction *prediction)
{
    enum mode mode = mode_for(values, count, prediction);
    uint8_t *to;

    text_reserve(out, 1 + count * (VARINT_MAX + 1) + MISS_MAX);
    to = (uint8_t *)out->data + out->length;
    *to++ = (uint8_t)mode;
    if (mode == MODE_WHOLE)
        to = pack_whole(to, values, count, prediction);
    if (mode == MODE_BITS)
        to = pack_bits(to, values, count, prediction);
    out->length = (size_t)(to - (uint8_t *)out->data);
}

static bool unpack_whole(const uint8_t **in, const uint8_t *end, double *values, size_t count,
                         const struct prediction *prediction)
{
    uint64_t word, hits = 0;

    for (size_t i = 0; i < count; i++) {
        double predicted = predict(prediction, values, i);

        if (hits == 0) {
            if (!varint_get(in, end, &word) || word == 0)
                return false;
            hits = (word & 1) == 0 ? word >> 1 : 0;
            if ((word & 1) != 0) {
                /* Added as doubles, because integers could overflow if the bytes are damaged. */
                values[i] = (double)zigzag_back(word >> 1) + predicted;
                continue;
            }
        }
        values[i] = predicted;
        hits--;
    }
    return hits == 0;
}

static bool get_miss(const uint8_t **in, const uint8_t *end, uint8_t head, uint64_t *wrong_bits)
{
    unsigned front = head >> 3 & 7, back = head & 7;

    if (front + back > 7 || end - *in < (ptrdiff_t)(8 - front - back))
        return false;
    *wrong_bits = 0;
    memcpy(wrong_bits, *in, 8 - front - back);
    *wrong_bits <<= back * 8;
    *in += 8 - front - back;
    return true;
}

static bool unpack_bits(const uint8_t **in, const uint8_t *end, double *values, size_t count,
                        const struct prediction *prediction)
{
    unsigned hits = 0;

    for (size_t i = 0; i < count; i++) {
        uint64_t wrong_bits = 0, bits = bits_of(predict(prediction, values, i));

        if (hits == 0) {
            if (*in >= end)
                return false;
            uint8_t head = *(*in)++;
            if ((head & MISS) == 0)
                hits = head + 1U;
            else if (!get_miss(in, end, head, &wrong_bits))
                return false;
        }
        hits -= hits > 0;
        bits ^= wrong_bits;
        memcpy(&values[i], &bits, sizeof bits);
    }
    return hits == 0;
}

bool column_codec_unpack(const uint8_t **in, const uint8_t *end, double *values, size_t count,
                         const struct prediction *prediction)
{
    if (*in >= end)
        return false;
    switch (*(*in)++) {
    case MODE_AS_PREDICTED:
        for (size_t i = 0; i < count; i++)
            values[i] = predict(prediction, values, i);
        return true;
    case MODE_WHOLE:
        return unpack_whole(in, end, values, count, prediction);
    case MODE_BITS:
        return unpack_bits(in, end, values, count, prediction);
    default:
        return false;
    }
}
