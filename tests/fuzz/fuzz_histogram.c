/* SPDX-License-Identifier: Apache-2.0 */
/* histogram_decode: an accepted histogram can be queried, and is the same after encoding and
 * decoding. */
#include "base/core/memory.h"
#include "base/stats/histogram.h"
#include "tests/fuzz/fuzz.h"

static void ask(const struct histogram *histogram)
{
    uint64_t last = 0;
    bool censored;

    for (int i = 0; i <= 20; i++) {
        uint64_t value = histogram_quantile(histogram, i / 20.0, &censored);

        must(value >= last && value >= histogram_min(histogram)
             && value <= histogram_max(histogram));
        last = value;
    }
    must(!(histogram_mean(histogram) < 0) && !(histogram_deviation(histogram) < 0));
    must(histogram_censored(histogram) <= histogram_count(histogram));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct histogram *histogram, *again;
    FREE_AUTO void *encoded = NULL;
    struct error error;
    size_t length;

    if (!histogram_decode(data, size, &histogram, &error))
        return 0;
    ask(histogram);
    histogram_encode(histogram, &encoded, &length);
    must(length <= size); /* our own encoding is the shortest */
    must(histogram_decode(encoded, length, &again, &error));
    must(histogram_count(again) == histogram_count(histogram));
    must(histogram_quantile(again, 0.5, NULL) == histogram_quantile(histogram, 0.5, NULL));
    histogram_merge(again, histogram);
    ask(again);
    histogram_destroy(again);
    histogram_destroy(histogram);
    return 0;
}
