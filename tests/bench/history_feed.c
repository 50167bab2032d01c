/* SPDX-License-Identifier: Apache-2.0 */
/* Stores days of scrapes within minutes. Gets a model server's metrics page once, and then changes
 * it with made-up traffic, scrape by scrape. Each version of the page is written to opsbrain's
 * store, as the scraper would write it, and to OpenMetrics files (one for every two hours) for
 * promtool. Prints the CPU time that opsbrain's part took per sample and, if only SQLite's files
 * are written, how many bytes are written to them per sample.
 *
 *     bench_history_feed URL FOLDER FILES DEPLOYMENTS HOURS END_S [DATABASE]
 *
 * END_S: the end of the last day, in seconds since 1970. FILES: the folder for the OpenMetrics
 * files; "": none are written. DATABASE: the URI of an empty PostgreSQL database.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/core/memory.h"
#include "base/core/random.h"
#include "base/net/outbound.h"
#include "fleet/metrics_page.h"
#include "store/ledger/store.h"
#include "store/series/scrapes.h"

#define INTERVAL_MS 15000
#define FILE_MS (2 * 60 * 60 * 1000LL)
#define HOUR_MS (60 * 60 * 1000LL)

static void die(const char *what, const struct error *error)
{
    fprintf(stderr, "bench_history_feed: %s: %s\n", what, error->message);
    exit(1);
}

/* ---- What vLLM reports and simserve does not ---- */

static const char *const request_limits[] = { "0.3",    "0.5",   "0.8",   "1.0",   "1.5",
                                              "2.0",    "2.5",   "5.0",   "10.0",  "15.0",
                                              "20.0",   "30.0",  "40.0",  "50.0",  "60.0",
                                              "120.0",  "240.0", "480.0", "960.0", "1920.0",
                                              "7680.0", "+Inf",  NULL };
static const char *const token_limits[] = { "1.0",     "2.0",     "5.0",    "10.0",
                                            "20.0",    "50.0",    "100.0",  "200.0",
                                            "500.0",   "1000.0",  "2000.0", "5000.0",
                                            "10000.0", "20000.0", "+Inf",   NULL };

static const struct {
    const char *name;
    const char *const *limits;
} more_histograms[] = {
    { "vllm:request_inference_time_seconds", request_limits },
    { "vllm:request_prefill_time_seconds", request_limits },
    { "vllm:request_decode_time_seconds", request_limits },
    { "vllm:request_prompt_tokens", token_limits },
    { "vllm:request_generation_tokens", token_limits },
    { "vllm:request_max_num_generation_tokens", token_limits },
    { "vllm:request_params_max_tokens", token_limits },
    { "vllm:iteration_tokens_total", token_limits },
    { "http_request_duration_highr_seconds", request_limits },
};
static const char *const more_series[] = {
    "# TYPE vllm:engine_sleep_state gauge\nvllm:engine_sleep_state{sleep_state=\"awake\"} 1\n",
    "vllm:engine_sleep_state{sleep_state=\"weights_offloaded\"} 0\n",
    "# TYPE python_gc_objects_collected_total counter\n",
    "python_gc_objects_collected_total{generation=\"0\"} 12000\n",
    "python_gc_objects_collected_total{generation=\"1\"} 1500\n",
    "python_gc_objects_collected_total{generation=\"2\"} 90\n",
    "# TYPE process_virtual_memory_bytes gauge\nprocess_virtual_memory_bytes 1.6e+10\n",
    "# TYPE process_resident_memory_bytes gauge\nprocess_resident_memory_bytes 5.2e+09\n",
    "# TYPE process_cpu_seconds_total counter\nprocess_cpu_seconds_total 1000\n",
    "# TYPE process_open_fds gauge\nprocess_open_fds 61\n",
    "# TYPE http_requests_total counter\n",
    "http_requests_total{handler=\"/v1/completions\",method=\"POST\",status=\"2xx\"} 1000\n",
    "http_requests_total{handler=\"/v1/chat/completions\",method=\"POST\",status=\"2xx\"} 1000\n",
    "http_requests_total{handler=\"/v1/models\",method=\"GET\",status=\"2xx\"} 1000\n",
    "http_requests_total{handler=\"/v1/completions\",method=\"POST\",status=\"4xx\"} 10\n",
};

static void add_histogram(struct text *page, const char *name, const char *const *limits)
{
    static const char labels[] = "engine=\"0\",model_name=\"gemma\"";

    text_addf(page, "# TYPE %s histogram\n", name);
    for (size_t i = 0; limits[i] != NULL; i++)
        text_addf(page, "%s_bucket{%s,le=\"%s\"} 0\n", name, labels, limits[i]);
    text_addf(page, "%s_count{%s} 0\n%s_sum{%s} 0\n", name, labels, name, labels);
}

static void get_page(const char *url, struct text *out)
{
    struct outbound_response response = { 0 };
    TEXT_AUTO full = { 0 };
    struct error error;

    text_addf(&full, "%s/metrics", url);
    const struct outbound_request request = { .url = full.data, .accept = "*/*" };
    if (!outbound_perform(&request, &response, &error))
        die("the page", &error);
    text_add_bytes(out, response.body.data, response.body.length);
    outbound_response_finish(&response);
    for (size_t i = 0; i < sizeof more_histograms / sizeof *more_histograms; i++)
        add_histogram(out, more_histograms[i].name, more_histograms[i].limits);
    for (size_t i = 0; i < sizeof more_series / sizeof *more_series; i++)
        text_add(out, more_series[i]);
}

/* ---- Traffic ---- */

enum role {
    ROLE_CONSTANT,
    ROLE_BUCKET,
    ROLE_COUNT,
    ROLE_SUM,
    ROLE_REQUESTS,
    ROLE_TOKENS,
    ROLE_CPU,
    ROLE_RUNNING,
    ROLE_SHARE,
    ROLE_MEMORY
};

/* How the value of one series of the page changes. */
struct pattern {
    enum role role;
    size_t first;   /* index of the first bucket of the series' histogram */
    size_t buckets; /* number of the histogram's buckets up to this series */
    double limit;   /* the upper limit, if the series is a bucket */
};

static bool has(const char *text, const char *part)
{
    return strstr(text, part) != NULL;
}

static bool ends_with(const char *text, const char *suffix)
{
    size_t length = strlen(text), suffix_length = strlen(suffix);

    return length >= suffix_length && strcmp(text + length - suffix_length, suffix) == 0;
}

/* Returns a bucket's upper limit; NaN if the labels have none. */
static double limit_of(const char *labels)
{
    const char *at = strstr(labels, "le=\"");

    return at == NULL ? NAN : strtod(at + 4, NULL);
}

static void make_patterns(const struct metrics_page *page, struct pattern *patterns)
{
    size_t first = 0;

    for (size_t i = 0; i < page->count; i++) {
        const char *name = page->values[i].name;
        struct pattern *pattern = &patterns[i];

        if (ends_with(name, "_bucket")) {
            bool is_same_histogram = i > 0 && strcmp(page->values[i - 1].name, name) == 0;

            first = is_same_histogram ? first : i;
            *pattern = (struct pattern){ ROLE_BUCKET, first, i - first + 1,
                                         limit_of(page->values[i].labels) };
        } else if (ends_with(name, "_count") || ends_with(name, "_sum")) {
            size_t last = i;

            while (last > 0 && patterns[last].role != ROLE_BUCKET)
                last--;
            *pattern = (struct pattern){ ends_with(name, "_sum") ? ROLE_SUM : ROLE_COUNT,
                                         patterns[last].first, last - patterns[last].first + 1, 0 };
        } else if (has(name, "cpu_seconds")) {
            pattern->role = ROLE_CPU;
        } else if (has(name, "resident_memory")) {
            pattern->role = ROLE_MEMORY;
        } else if (has(name, "num_requests_running")) {
            pattern->role = ROLE_RUNNING;
        } else if (has(name, "cache_usage")) {
            pattern->role = ROLE_SHARE;
        } else if (has(name, "tokens_total") || has(name, "prefix_cache")
                   || has(name, "objects_collected")) {
            pattern->role = ROLE_TOKENS;
        } else if (strcmp(page->values[i].type, "counter") == 0
                   && !has(page->values[i].labels, "abort") && !has(page->values[i].labels, "4xx")
                   && !has(page->values[i].labels, "error") && !has(name, "preemptions")) {
            pattern->role = ROLE_REQUESTS;
        }
    }
}

static double normal(struct generator *random)
{
    return sqrt(-2 * log(1 - generator_uniform(random)))
           * cos(6.283185307179586 * generator_uniform(random));
}

/* Adds made-up observations to a histogram. `sum` and `count` are the indexes of its series _sum
 * and _count. */
static void observe(struct metrics_page *page, const struct pattern *patterns, size_t sum,
                    size_t count, size_t observations, struct generator *random)
{
    const struct pattern *pattern = &patterns[sum];
    const char *name = page->values[pattern->first].name;
    double median = has(name, "inter_token")   ? 0.03
                    : has(name, "first_token") ? 0.15
                    : has(name, "queue")       ? 0.01
                    : has(name, "tokens")      ? 300
                                               : 4;

    for (size_t n = 0; n < observations; n++) {
        double value = median * exp(0.6 * normal(random));
        bool is_whole = has(name, "_tokens");

        value = is_whole ? floor(value) : value;
        for (size_t i = pattern->first; i < pattern->first + pattern->buckets; i++)
            if (value <= patterns[i].limit)
                page->values[i].value += 1;
        page->values[sum].value += value;
        page->values[count].value += 1;
    }
}

/* Advances one deployment by one interval; `load` is in requests per second. */
static void advance(struct metrics_page *page, const struct pattern *patterns, double load,
                    struct generator *random)
{
    size_t requests = (size_t)fmax(0, load * INTERVAL_MS / 1000
                                          + sqrt(load * INTERVAL_MS / 1000) * normal(random));
    double running = load * 4;

    for (size_t i = 0; i < page->count; i++) {
        double *value = &page->values[i].value;

        switch (patterns[i].role) {
        case ROLE_SUM: /* its _count is the series before or after it */
            observe(page, patterns, i, i > 0 && patterns[i - 1].role == ROLE_COUNT ? i - 1 : i + 1,
                    has(page->values[i].name, "inter_token") ? requests * 20 : requests, random);
            break;
        case ROLE_REQUESTS:
            *value += (double)requests / 2;
            *value = floor(*value);
            break;
        case ROLE_TOKENS:
            *value += (double)requests * 300 + (double)generator_below(random, 400);
            break;
        case ROLE_CPU:
            *value = round((*value + 15 * (0.2 + 0.1 * generator_uniform(random))) * 100) / 100;
            break;
        case ROLE_RUNNING:
            *value = floor(fmax(0, running + sqrt(running) * normal(random)));
            break;
        case ROLE_SHARE:
            *value = fmax(0, floor(running * 37 + 20 * normal(random))) / 7234;
            break;
        case ROLE_MEMORY:
            *value +=
                4096
                * (double)(int64_t)(generator_below(random, 40) < 1 ? generator_below(random, 1000)
                                                                    : 0);
            break;
        case ROLE_CONSTANT:
        case ROLE_BUCKET:
        case ROLE_COUNT:
            break;
        }
    }
}

/* ---- OpenMetrics files ---- */

static void write_page(const struct metrics_page *page, struct text *out)
{
    text_clear(out);
    for (size_t i = 0; i < page->count; i++)
        text_addf(out, "%s{%s} %.17g\n", page->values[i].name, page->values[i].labels,
                  page->values[i].value);
}

static void write_openmetrics(const struct metrics_page *page, int deployment, int64_t at_ms,
                              FILE *file)
{
    for (size_t i = 0; i < page->count; i++)
        fprintf(file, "%s{deployment=\"d%d\"%s%s} %.17g %.3f\n", page->values[i].name, deployment,
                page->values[i].labels[0] == '\0' ? "" : ",", page->values[i].labels,
                page->values[i].value, (double)at_ms / 1000);
}

static void close_file(FILE *file)
{
    if (file != NULL && (fputs("# EOF\n", file) < 0 || fclose(file) != 0))
        exit(1);
}

/* Returns the file to write to at this time: `file`, or a new one if `file` is NULL or an even hour
 * (UTC) begins. If `folder` is "", no files are written, and NULL is returned. */
static FILE *file_at(const char *folder, int64_t at_ms, FILE *file)
{
    TEXT_AUTO path = { 0 };

    if (folder[0] == '\0' || (file != NULL && at_ms % FILE_MS != 0))
        return file;
    close_file(file);
    text_addf(&path, "%s/%lld.om", folder, (long long)at_ms / 1000);
    file = fopen(path.data, "w");
    if (file == NULL) {
        perror(path.data);
        exit(1);
    }
    return file;
}

/* ---- The program ---- */

struct costs {
    double read_s, add_s, compact_s; /* CPU time of this process */
    size_t samples;
};

static double cpu_s(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Parses a page and stores it, as the scraper does. */
static void store_page(struct store *store, int64_t deployment_id, int64_t at_ms,
                       const struct text *text, struct costs *costs)
{
    double start = cpu_s(), middle;
    struct error error;
    struct metrics_page page;

    metrics_page_read(text, 0, &page);
    middle = cpu_s();
    if (!scrape_add(store, deployment_id, at_ms, page.values, page.count, NULL, &error))
        die("a scrape", &error);
    costs->samples += page.count;
    metrics_page_finish(&page);
    costs->read_s += middle - start;
    costs->add_s += cpu_s() - middle;
}

static void copy_page(const struct metrics_page *from, struct metrics_page *to)
{
    *to = *from; /* names and labels are shared */
    to->values = memory_zeroed(from->count, sizeof *to->values);
    memcpy(to->values, from->values, from->count * sizeof *to->values);
}

static void run(struct store *store, const struct metrics_page *page, const char *files,
                int deployments, int64_t from_ms, int64_t end_ms, struct costs *costs)
{
    struct pattern *patterns = memory_zeroed(page->count, sizeof *patterns);
    struct metrics_page *pages = memory_zeroed((size_t)deployments, sizeof *pages);
    struct generator random;
    TEXT_AUTO text = { 0 };
    FILE *file = NULL;
    struct error error;

    generator_init(&random, 1);
    make_patterns(page, patterns);
    for (int d = 0; d < deployments; d++)
        copy_page(page, &pages[d]);
    for (int64_t at_ms = from_ms; at_ms < end_ms; at_ms += INTERVAL_MS) {
        double day = (double)(at_ms % (24 * HOUR_MS)) / (24 * HOUR_MS);

        file = file_at(files, at_ms, file);
        for (int d = 0; d < deployments; d++) {
            int64_t offset_ms = 500 + d * 731 % 14000,
                    jitter_ms = (int64_t)generator_below(&random, 4);

            advance(&pages[d], patterns, 2 + 1.9 * sin(6.283185307179586 * day + d), &random);
            write_page(&pages[d], &text);
            store_page(store, d + 1, at_ms + offset_ms + jitter_ms, &text, costs);
            /* without the jitter, as Prometheus removes jitter from its own scrape times */
            if (file != NULL)
                write_openmetrics(&pages[d], d, at_ms + offset_ms, file);
        }
        if (at_ms % (5 * 60000) == 0) {
            double start = cpu_s();

            if (!scrape_compact(store, at_ms, &error))
                die("rolling up", &error);
            costs->compact_s += cpu_s() - start;
        }
    }
    close_file(file);
    if (!scrape_compact(store, end_ms + HOUR_MS, &error))
        die("rolling up", &error);
    for (int d = 0; d < deployments; d++)
        free(pages[d].values);
    free(pages);
    free(patterns);
}

/* Returns the bytes that this process has written so far, nearly all of them to files. */
static double written_bytes(void)
{
    FILE *file = fopen("/proc/self/io", "r");
    double bytes = NAN;

    if (file == NULL || fscanf(file, "rchar: %*u wchar: %lf", &bytes) != 1)
        die("/proc/self/io", &(struct error){ .message = "cannot be read" });
    fclose(file);
    return bytes;
}

int main(int argc, char **argv)
{
    struct costs costs = { 0 };
    TEXT_AUTO text = { 0 };
    struct metrics_page page;
    struct store *store;
    struct error error;

    if (argc != 7 && argc != 8)
        return 2;
    int deployments = (int)strtol(argv[4], NULL, 10);
    int64_t end_ms = strtoll(argv[6], NULL, 10) * 1000;
    int64_t from_ms = end_ms - strtoll(argv[5], NULL, 10) * HOUR_MS;
    if (!outbound_global_init(&error)
        || !store_open(argv[2], argc == 8 ? argv[7] : "", 2, &store, &error))
        die("start", &error);
    get_page(argv[1], &text);
    metrics_page_read(&text, 0, &page);
    run(store, &page, argv[3], deployments, from_ms, end_ms, &costs);
    store_close(store);
    printf("%zu series in a page, %zu samples\n", page.count, costs.samples);
    printf("opsbrain: CPU per sample %.2f us (reading the page %.2f, storing it %.2f, rolling up "
           "and packing %.2f)\n",
           (costs.read_s + costs.add_s + costs.compact_s) / (double)costs.samples * 1e6,
           costs.read_s / (double)costs.samples * 1e6, costs.add_s / (double)costs.samples * 1e6,
           costs.compact_s / (double)costs.samples * 1e6);
    if (argv[3][0] == '\0' && argc == 7)
        printf("opsbrain: bytes written to files per sample %.2f\n",
               written_bytes() / (double)costs.samples);
    metrics_page_finish(&page);
    return 0;
}
