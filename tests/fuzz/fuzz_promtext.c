/* SPDX-License-Identifier: Apache-2.0 */
/* promtext_read: samples lie within the input, and labels can be read. If the labels of a sample
 * have no NUL byte, the sample can be written and read again with the same name, labels and value.
 * metrics_map turns the samples into valid figures. */
#include <math.h>
#include <string.h>

#include "base/formats/promtext.h"
#include "fleet/metrics_map.h"
#include "tests/fuzz/fuzz.h"

struct bounds {
    const char *first, *end;
};

static bool is_within(const struct bounds *bounds, const char *bytes, size_t length)
{
    return length == 0
           || (bytes >= bounds->first && bytes <= bounds->end
               && length <= (size_t)(bounds->end - bytes));
}

/* Compares a sample that was written and read again with the original. */
static bool read_back(void *context, const struct promtext_sample *sample)
{
    const struct promtext_sample *written = context;

    must(sample->name_length == written->name_length
         && memcmp(sample->name, written->name, written->name_length) == 0);
    must(sample->labels_length == written->labels_length
         && memcmp(sample->labels, written->labels, written->labels_length) == 0);
    must(sample->value == written->value || isnan(written->value));
    must(isnan(sample->value) == isnan(written->value));
    return false; /* makes promtext_read return false, which shows that there was a sample */
}

static void check_writing(const struct promtext_sample *sample)
{
    TEXT_AUTO name = { 0 };
    TEXT_AUTO labels = { 0 };
    TEXT_AUTO page = { 0 };
    size_t skipped;

    text_add_bytes(&name, sample->name, sample->name_length);
    text_add_bytes(&labels, sample->labels, sample->labels_length);
    if (memchr(labels.data == NULL ? "" : labels.data, '\0', labels.length) != NULL)
        return;
    promtext_family(&page, name.data, sample->type, "it is \\ and\nmore");
    promtext_value(&page, name.data, text_string(&labels), sample->value);
    must(!promtext_read(page.data, page.length, read_back, (void *)(uintptr_t)sample, &skipped));
}

static bool check(void *context, const struct promtext_sample *sample)
{
    const struct bounds *bounds = context;
    char value[16];

    must(sample->name_length > 0 && is_within(bounds, sample->name, sample->name_length));
    must(is_within(bounds, sample->labels, sample->labels_length));
    must(sample->type <= PROMTEXT_SUMMARY);
    if (promtext_label(sample, "le", value, sizeof value))
        must(strlen(value) < sizeof value);
    must(!promtext_label(sample, "model_name", value, 1) || value[0] == '\0');
    check_writing(sample);
    return true;
}

static void check_map(const char *bytes, size_t length)
{
    struct engine_metrics_snapshot snapshot;
    struct scrape_value values[64];
    size_t count;

    metrics_map_clear(&snapshot);
    metrics_map(bytes, length, &snapshot);
    must(memchr(snapshot.model, '\0', sizeof snapshot.model) != NULL);
    must(isnan(snapshot.kv_cache_use)
         || (snapshot.kv_cache_use >= 0 && snapshot.kv_cache_use <= 1));
    count = engine_metrics_values(&snapshot, values, sizeof values / sizeof *values);
    for (size_t i = 0; i < count; i++)
        must(values[i].value >= 0 && isfinite(values[i].value));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *bytes = (const char *)data;
    struct bounds bounds = { bytes, bytes + size };
    size_t skipped;

    must(promtext_read(bytes, size, check, &bounds, &skipped));
    must(skipped <= size);
    check_map(bytes, size);
    return 0;
}
