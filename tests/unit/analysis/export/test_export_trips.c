/* SPDX-License-Identifier: Apache-2.0 */
/* Writes runs with random figures and texts in every format, and reads them back. What a format can
 * hold must come back unchanged, what it cannot hold must be reported, and nothing must be
 * invented. See is_escaped and is_number_sent for the two exceptions. */
#include "tests/unit/support/imports.h"

#include <stdio.h>

#include "analysis/export/export.h"
#include "analysis/import/import_members.h"
#include "base/core/random.h"
#include "base/json/json.h"

#define RUNS 120
#define CELLS 5

/* ---- Runs ---- */

static bool maybe(struct generator *random)
{
    return generator_below(random, 4) > 0;
}

static double draw_figure(struct generator *random)
{
    double value = exp(generator_uniform(random) * 12 - 3);

    return generator_below(random, 2) > 0 ? floor(value) + 1 : value;
}

static void draw_text(struct generator *random, char *out, size_t size)
{
    static const char *const texts[] = { "toy", "a \"quoted\", one", "=1+1", "x;y|z",
                                         "\xc3\xa9t\xc3\xa9" };

    text_copy(out, size, texts[generator_below(random, 5)]);
}

static void draw_fields(struct generator *random, const struct evidence_field *fields, void *base)
{
    for (; fields->name != NULL; fields++) {
        char *at = (char *)base + fields->offset;

        if (!maybe(random))
            continue;
        if (fields->size > 0)
            draw_text(random, at, fields->size);
        else
            *(double *)(void *)at = draw_figure(random);
    }
}

static void draw_counts(struct generator *random, struct evidence_cell *cell)
{
    cell->attempted = 1 + (double)generator_below(random, 1000);
    cell->succeeded = (double)generator_below(random, (uint64_t)cell->attempted + 1);
    cell->failed = cell->attempted - cell->succeeded;
    cell->success_rate = cell->succeeded / cell->attempted;
    if (!isnan(cell->requests_asked))
        cell->requests_asked = cell->attempted + (double)generator_below(random, 100);
    cell->cached_share = maybe(random) ? generator_uniform(random) : NAN;
    cell->concurrency = 1 + (double)generator_below(random, 500);
    if (cell->failed == 0) /* import_complete_cell() computes the means from the sums */
        cell->input_tokens_mean = cell->output_tokens_mean = NAN;
    if (!maybe(random))
        cell->request_rate_asked = NAN; /* a closed loop */
}

/* A failed cell has neither latencies nor rates. */
static void make_failed(struct evidence_cell *cell)
{
    struct evidence_cell unknown;

    evidence_cell_read(NULL, &unknown);
    memcpy(cell->latency, unknown.latency, sizeof cell->latency);
    cell->request_throughput = cell->goodput = cell->input_throughput = NAN;
    cell->output_throughput = cell->total_throughput = cell->token_throughput = NAN;
    cell->stream_throughput = NAN;
    text_copy(cell->status, sizeof cell->status, "failed");
}

/* Draws only the metrics before `end`. METRIC_QUEUE and the metrics after it exist only in our own
 * open loops, whose TTFT and E2E count from the scheduled time. If a cell has these metrics,
 * formats other than CSV hold its TTFT and E2E as counted from sending, which differ. */
static void draw_cell(struct generator *random, enum metric end, struct evidence_cell *cell)
{
    static const char *const marks[] = { "", "client_limited", "burst, contaminated",
                                         "low_success" };

    draw_fields(random, evidence_cell_fields, cell);
    for (enum metric i = 0; i < end; i++)
        if (maybe(random))
            draw_fields(random, evidence_latency_fields, &cell->latency[i]);
    draw_counts(random, cell);
    text_copy(cell->status, sizeof cell->status, "ok");
    text_copy(cell->time, sizeof cell->time, maybe(random) ? "2026-03-14T19:03:04" : "");
    text_copy(cell->variant, sizeof cell->variant, maybe(random) ? "model=a, trial=2" : "");
    text_copy(cell->marks, sizeof cell->marks, marks[generator_below(random, 4)]);
    cell->error = cell->failed > 0 && maybe(random) ? memory_copy_text("it \"broke\", so") : NULL;
    cell->concurrency_expected = NAN; /* only our own runs have it */
    if (cell->succeeded == 0)
        make_failed(cell);
    import_complete_cell(cell);
}

static void draw_run(uint64_t seed, enum metric end, struct evidence *out)
{
    struct generator random;

    generator_init(&random, seed);
    evidence_init(out);
    text_copy(out->id, sizeof out->id, "imp_a");
    out->imported = true;
    out->created_ms = 1700000000000;
    out->input_unit = (enum length_unit)generator_below(&random, LENGTH_UNITS);
    draw_fields(&random, evidence_fact_fields, &out->facts);
    out->facts.output_tokens = out->facts.timeout_s = NAN; /* each cell has its own */
    for (size_t i = 0; i < CELLS; i++)
        draw_cell(&random, end, evidence_add(out));
}

/* ---- What the formats can hold ---- */

/* What a format can hold, as lists of names that end with NULL; "*" stands for all names.
 * `metrics` are the latencies, and `statistics` what each of them can have. */
struct contents {
    const char *format;
    const char *const *figures, *const *facts, *const *metrics, *const *statistics;
};

#define LIST(...) ((const char *const[]){ __VA_ARGS__, NULL })

static const struct contents all_contents[] = {
    { "vllm",
      LIST("concurrency", "request_rate_asked", "input_length", "output_tokens_asked",
           "requests_asked", "attempted", "succeeded", "failed", "success_rate", "duration_s",
           "input_tokens", "output_tokens", "request_throughput", "goodput", "output_throughput",
           "total_throughput", "concurrency_max", "time", "variant", "marks"),
      LIST("model", "dataset"), LIST("ttft", "tpot", "icl", "e2e"),
      LIST("mean_ms", "deviation_ms", "p50_ms", "p90_ms", "p95_ms", "p99_ms") },
    { "aiperf",
      LIST("concurrency", "request_rate_asked", "input_length", "output_tokens_asked",
           "requests_asked", "attempted", "succeeded", "failed", "success_rate", "duration_s",
           "input_tokens", "output_tokens", "input_tokens_mean", "output_tokens_mean",
           "request_throughput", "goodput", "input_throughput", "output_throughput",
           "total_throughput", "stream_throughput", "concurrency_actual", "concurrency_max",
           "timeout_s", "time", "variant", "marks"),
      LIST("model"), LIST("ttft", "ttst", "tpot", "icl", "e2e"),
      LIST("count", "mean_ms", "deviation_ms", "min_ms", "p50_ms", "p90_ms", "p95_ms", "p99_ms",
           "max_ms") },
    { "csv", LIST("*"), LIST("*"), LIST("*"), LIST("*") },
    { "serving-report",
      LIST("concurrency", "input_length", "output_tokens_asked", "requests_asked", "attempted",
           "succeeded", "failed", "success_rate", "duration_s", "request_throughput",
           "output_throughput", "total_throughput", "stream_throughput", "status", "variant",
           "marks"),
      LIST("model", "model_revision", "quantization", "weights_type", "cache_type", "engine",
           "engine_version", "flags", "hardware", "provider", "region", "tool", "dataset", "date",
           "chips", "memory_gb_per_chip", "price_usd_per_chip_hour", "context_limit_tokens",
           "tensor_parallel", "repetitions"),
      LIST("ttft", "tpot", "icl", "e2e"),
      LIST("count", "mean_ms", "deviation_ms", "min_ms", "p50_ms", "p90_ms", "p95_ms", "p99_ms",
           "max_ms") },
};

static bool has(const char *const *list, const char *name)
{
    for (; *list != NULL; list++)
        if (strcmp(*list, "*") == 0 || strcmp(*list, name) == 0)
            return true;
    return false;
}

/* ---- Comparing ---- */

static bool same_value(const struct evidence_field *field, const void *before, const void *after)
{
    const char *from = (const char *)before + field->offset;
    const char *to = (const char *)after + field->offset;
    double was, is;

    if (field->size > 0)
        return strcmp(from, to) == 0;
    was = *(const double *)(const void *)from;
    is = *(const double *)(const void *)to;
    return isnan(was) ? isnan(is) : fabs(was - is) <= 1e-9 * fmax(1, fabs(was));
}

static bool is_unknown(const struct evidence_field *field, const void *base)
{
    const char *at = (const char *)base + field->offset;

    return field->size > 0 ? at[0] == '\0' : isnan(*(const double *)(const void *)at);
}

/* A spreadsheet would take "=1+1" for a formula, so the CSV export puts an apostrophe before it. */
static bool is_escaped(const struct evidence_field *field, const void *before, const void *after)
{
    return field->size > 0 && ((const char *)after)[field->offset] == '\''
           && strcmp((const char *)before + field->offset, (const char *)after + field->offset + 1)
                  == 0;
}

/* A run, written in a format and read back. */
struct trip {
    const struct contents *contents;
    uint64_t seed;
    struct evidence before, after;
    struct text file;
    json_t *losses;
};

static bool is_reported_lost(const struct trip *trip, const char *prefix, const char *name)
{
    char path[64];
    const json_t *loss;
    size_t i;

    snprintf(path, sizeof path, "%s%s", prefix, name);
    json_array_foreach(trip->losses, i, loss) {
        if (strcmp(json_string_value(loss), path) == 0)
            return true;
    }
    return false;
}

/* Whether the number of requests sent replaces the number planned, which was not known: in aiperf's
 * format, each phase must say after how many requests or how much time it ends. */
static bool is_number_sent(const struct evidence_field *field, const struct trip *trip,
                           const void *before, const void *after)
{
    const struct evidence_cell *was = before, *is = after;

    return strcmp(trip->contents->format, "aiperf") == 0
           && strcmp(field->name, "requests_asked") == 0 && isnan(was->requests_asked)
           && fabs(is->requests_asked - was->attempted) < 0.5;
}

static void compare(const struct trip *trip, const struct evidence_field *fields,
                    const char *const *held, const char *prefix, const void *before,
                    const void *after)
{
    for (; fields->name != NULL; fields++) {
        if (same_value(fields, before, after) || is_escaped(fields, before, after)
            || is_number_sent(fields, trip, before, after))
            continue;
        if (!is_unknown(fields, after))
            fail_msg("%s, run %u: %s%s has changed\n%s", trip->contents->format,
                     (unsigned)trip->seed, prefix, fields->name, text_string(&trip->file));
        if (has(held, fields->name))
            fail_msg("%s, run %u: %s%s is lost\n%s", trip->contents->format, (unsigned)trip->seed,
                     prefix, fields->name, text_string(&trip->file));
        if (!is_reported_lost(trip, prefix, fields->name))
            fail_msg("%s: %s%s is lost, and nothing says so", trip->contents->format, prefix,
                     fields->name);
    }
}

static void compare_cell(const struct trip *trip, const struct evidence_cell *before,
                         const struct evidence_cell *after)
{
    compare(trip, evidence_cell_fields, trip->contents->figures, "", before, after);
    for (enum metric i = 0; i < METRIC_COUNT; i++) {
        bool is_held = has(trip->contents->metrics, metric_name(i));
        char prefix[32];

        snprintf(prefix, sizeof prefix, "%s.", metric_name(i));
        compare(trip, evidence_latency_fields, is_held ? trip->contents->statistics : LIST("none"),
                prefix, &before->latency[i], &after->latency[i]);
    }
    assert_int_equal(before->client_limited, after->client_limited);
    assert_int_equal(before->contaminated, after->contaminated);
    if (before->error != NULL && (after->error == NULL || strcmp(before->error, after->error) != 0))
        fail_msg("%s: the error is lost", trip->contents->format);
}

/* ---- Trips ---- */

static void trip_begin(struct trip *trip, const struct contents *contents, uint64_t seed)
{
    const struct exporter *exporter = exporter_find(contents->format);
    struct error error;

    *trip = (struct trip){ .contents = contents, .seed = seed };
    draw_run(seed, strcmp(contents->format, "csv") == 0 ? METRIC_COUNT : METRIC_QUEUE,
             &trip->before);
    exporter->write(&trip->before, 0, CELLS, &trip->file);
    if (!import_read(text_string(&trip->file), trip->file.length, NULL, &trip->after, &error))
        fail_msg("%s, run %u: %s\n%s", contents->format, (unsigned)seed, error.message,
                 text_string(&trip->file));
    assert_string_equal(trip->after.format, contents->format);
    trip->losses = export_losses(exporter, &trip->before, 0, CELLS, &trip->file);
}

static void trip_finish(struct trip *trip)
{
    evidence_finish(&trip->before);
    evidence_finish(&trip->after);
    text_finish(&trip->file);
    json_decref(trip->losses);
}

static void check_trip(const struct contents *contents, uint64_t seed)
{
    const struct exporter *exporter = exporter_find(contents->format);
    struct trip trip;
    size_t read = 0;

    trip_begin(&trip, contents, seed);
    for (size_t i = 0; i < CELLS; i++)
        if (export_takes(exporter, &trip.before.cells[i]))
            compare_cell(&trip, &trip.before.cells[i], &trip.after.cells[read++]);
    assert_int_equal(read, trip.after.cell_count);
    assert_int_equal(trip.before.input_unit, trip.after.input_unit);
    compare(&trip, evidence_fact_fields, contents->facts, "", &trip.before.facts,
            &trip.after.facts);
    trip_finish(&trip);
}

static void every_format_keeps_what_it_can_hold_and_losses_are_reported(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof all_contents / sizeof all_contents[0]; i++)
        for (uint64_t seed = 1; seed <= RUNS; seed++)
            check_trip(&all_contents[i], seed);
}

static void every_exporter_is_tested(void **state)
{
    size_t count = 0;

    (void)state;
    for (; exporters[count].format != NULL; count++)
        assert_string_equal(exporters[count].format, all_contents[count].format);
    assert_int_equal(count, sizeof all_contents / sizeof all_contents[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_exporter_is_tested),
        cmocka_unit_test(every_format_keeps_what_it_can_hold_and_losses_are_reported),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
