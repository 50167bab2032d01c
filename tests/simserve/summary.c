/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/simserve/summary.h"

#include <stdlib.h>

#include "base/core/memory.h"
#include "base/stats/histogram.h"
#include "tests/simserve/truth_ring.h"

struct values {
    int64_t *items;
    size_t count, capacity;
};

struct window {
    int64_t from_ns, to_ns;
    struct values ttft_ns;
    struct values e2e_ns;
    struct histogram *gaps_us;
    int64_t requests, failed, prompt_tokens, cached_tokens, output_tokens;
    int64_t requests_without_gaps; /* their chunk times were freed */
    int64_t chunks_in_window;
    double running_ns, present_ns; /* sums of the requests' times within the window */
};

static void values_add(struct values *values, int64_t value)
{
    if (values->count == values->capacity) {
        values->capacity = values->capacity ? 2 * values->capacity : 1024;
        values->items = memory_resize(values->items, values->capacity, sizeof *values->items);
    }
    values->items[values->count++] = value;
}

static int compare(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

/* Returns a quantile of sorted values, by nearest rank. */
static double quantile_ms(const struct values *values, double q)
{
    size_t rank = (size_t)(q * (double)values->count);

    if ((double)rank < q * (double)values->count)
        rank++;
    return (double)values->items[rank > 0 ? rank - 1 : 0] / 1e6;
}

static void write_values(struct text *out, const char *name, struct values *values)
{
    if (values->count == 0) {
        text_addf(out, ",\"%s\":null", name);
        return;
    }
    qsort(values->items, values->count, sizeof *values->items, compare);
    text_addf(out, ",\"%s\":{\"min\":%.6f,\"p50\":%.6f,\"p90\":%.6f,\"p99\":%.6f,\"max\":%.6f}",
              name, quantile_ms(values, 0), quantile_ms(values, 0.5), quantile_ms(values, 0.9),
              quantile_ms(values, 0.99), quantile_ms(values, 1));
}

static double overlap_ns(const struct window *window, int64_t from_ns, int64_t to_ns)
{
    from_ns = from_ns > window->from_ns ? from_ns : window->from_ns;
    to_ns = to_ns < window->to_ns ? to_ns : window->to_ns;
    return to_ns > from_ns ? (double)(to_ns - from_ns) : 0;
}

static void add_times(struct window *window, const struct truth_record *record, bool in_window)
{
    const struct chunk_times *times = &record->times;

    for (uint32_t i = 0; i < times->count; i++) {
        int64_t at_ns = record->first_write_ns + (int64_t)times->offset_us[i] * 1000;

        if (at_ns >= window->from_ns && at_ns < window->to_ns)
            window->chunks_in_window++;
        if (in_window && i > 0)
            histogram_record(window->gaps_us, times->offset_us[i] - times->offset_us[i - 1]);
    }
    if (in_window && times->count == 0)
        window->requests_without_gaps++;
}

static void add_presence(struct window *window, const struct truth_record *record, int64_t end_ns)
{
    window->present_ns += overlap_ns(window, record->read_ns, end_ns);
    if (record->admitted_ns)
        window->running_ns += overlap_ns(window, record->admitted_ns, end_ns);
}

static void add_record(struct window *window, const struct truth_record *record)
{
    bool in_window = record->first_write_ns >= window->from_ns
                     && record->first_write_ns < window->to_ns && record->first_write_ns > 0;

    add_presence(window, record, record->end_ns);
    add_times(window, record, in_window);
    if (!in_window)
        return;
    window->requests++;
    window->failed += record->outcome != OUTCOME_OK;
    window->prompt_tokens += record->prompt_tokens;
    window->cached_tokens += record->cached_tokens;
    window->output_tokens += record->output_tokens;
    if (record->stream)
        values_add(&window->ttft_ns, record->first_write_ns - record->read_ns);
    values_add(&window->e2e_ns, record->end_ns - record->read_ns);
}

static void add_list(struct window *window, const struct sequence_list *list)
{
    const struct sequence *sequence;

    TAILQ_FOREACH(sequence, list, link)
    {
        add_presence(window, &sequence->record, window->to_ns);
        add_times(window, &sequence->record, false);
    }
}

static void write_gaps(struct text *out, const struct histogram *gaps)
{
    if (histogram_count(gaps) == 0) {
        text_add(out, ",\"itl_ms\":null");
        return;
    }
    text_addf(
        out, ",\"itl_ms\":{\"count\":%llu,\"mean\":%.6f,\"p50\":%.6f,\"p99\":%.6f,\"max\":%.6f}",
        (unsigned long long)histogram_count(gaps), histogram_mean(gaps) / 1e3,
        (double)histogram_quantile(gaps, 0.5, NULL) / 1e3,
        (double)histogram_quantile(gaps, 0.99, NULL) / 1e3, (double)histogram_max(gaps) / 1e3);
}

static void write_window(struct window *window, struct text *out)
{
    double length_ns = (double)(window->to_ns - window->from_ns);

    text_addf(out, "{\"from_ns\":%lld,\"to_ns\":%lld,\"requests\":%lld,\"failed\":%lld",
              (long long)window->from_ns, (long long)window->to_ns, (long long)window->requests,
              (long long)window->failed);
    text_addf(out, ",\"prompt_tokens\":%lld,\"cached_tokens\":%lld,\"output_tokens\":%lld",
              (long long)window->prompt_tokens, (long long)window->cached_tokens,
              (long long)window->output_tokens);
    text_addf(out, ",\"chunks_in_window\":%lld,\"requests_without_gaps\":%lld",
              (long long)window->chunks_in_window, (long long)window->requests_without_gaps);
    text_addf(out, ",\"running_average\":%.6f,\"present_average\":%.6f",
              length_ns > 0 ? window->running_ns / length_ns : 0,
              length_ns > 0 ? window->present_ns / length_ns : 0);
    write_values(out, "ttft_ms", &window->ttft_ns);
    write_values(out, "e2e_ms", &window->e2e_ns);
    write_gaps(out, window->gaps_us);
    text_add_char(out, '}');
}

void summary_write(const struct server *server, int64_t from_ns, int64_t to_ns, struct text *out)
{
    const struct truth *truth = server->truth;
    struct window window = { .from_ns = from_ns, .to_ns = to_ns, .gaps_us = histogram_create() };

    for (uint64_t number = truth->first; number <= truth->last; number++)
        add_record(&window, truth_at(truth, number));
    add_list(&window, &server->model.running);
    add_list(&window, &server->model.waiting);
    write_window(&window, out);
    histogram_destroy(window.gaps_us);
    free(window.ttft_ns.items);
    free(window.e2e_ns.items);
}
