/* SPDX-License-Identifier: Apache-2.0 */
/* Sets up a cell and measures it against simserve, for the tests of bench/cell/cell*.c. */
#pragma once

#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/core/clock.h"
#include "base/core/random.h"
#include "bench/cell/cell.h"
#include "tests/simserve/harness/process.h"
#include "tests/simserve/harness/truth.h"

#define FLAGS_LIMIT 16

/* A cell to be measured, and its result. */
struct trial {
    struct simserve server;
    struct endpoint endpoint;
    struct workload workload;
    struct plan plan;
    struct cell_order order;
    struct cell_result result;
    struct error error;
    int64_t stop_ns; /* when to stop, on the monotonic clock; 0: never */
    pthread_t thread;
    bool succeeded; /* whether the measurement on the thread succeeded */
};

static inline bool is_stopped(void *context, const char *doing, double elapsed_s)
{
    const struct trial *trial = context;

    assert_non_null(doing);
    assert_true(elapsed_s >= 0);
    return trial->stop_ns != 0 && clock_monotonic_ns() > trial->stop_ns;
}

static inline void make_workload(struct workload *out, enum bench_api api)
{
    *out = (struct workload){ .api = api,
                              .form = api == BENCH_CHAT ? PROMPT_WORDS : PROMPT_IDS,
                              .overhead_tokens = api == BENCH_CHAT ? 11 : 0,
                              .tokens_per_piece = 1,
                              .fields = FIELD_MAX_TOKENS | FIELD_STREAM_USAGE | FIELD_IGNORE_EOS,
                              .reports_usage = true,
                              .piece_count = 512 };
    for (int i = 0; i < 512; i++)
        snprintf(out->pieces[i], WORKLOAD_PIECE_SIZE, api == BENCH_CHAT ? "w%u" : "%u",
                 (unsigned)(1000 + i) % 10000);
}

/* Starts simserve and prepares a cell. The first token takes 5 ms, and each further one 2 ms.
 * `flags` (ends with NULL) are more flags for simserve; NULL: there are none. */
static inline void set_up(struct trial *trial, const char *const *flags)
{
    const char *all[FLAGS_LIMIT] = { "--ttft-ms", "5", "--step-ms", "2", "--truth-chunks", "true" };
    size_t count = 6;

    while (flags != NULL && *flags != NULL && count < FLAGS_LIMIT - 1)
        all[count++] = *flags++;
    *trial = (struct trial){ .server = simserve_start(all) };
    snprintf(trial->endpoint.url, sizeof trial->endpoint.url, "http://127.0.0.1:%d",
             trial->server.port);
    snprintf(trial->endpoint.model, sizeof trial->endpoint.model, "simserve/toy");
    make_workload(&trial->workload, BENCH_COMPLETIONS);
    trial->plan = (struct plan){ .window_s = 0.3,
                                 .warmup_limit_s = 0.2,
                                 .seed = 1,
                                 .ttft_timeout_s = 1,
                                 .idle_timeout_s = 1,
                                 .request_timeout_s = 10 };
    trial->order = (struct cell_order){ .endpoint = &trial->endpoint,
                                        .workload = &trial->workload,
                                        .plan = &trial->plan,
                                        .concurrency = 4,
                                        .input_tokens = 64,
                                        .output_tokens = 8,
                                        .probe = true,
                                        .shards = 1,
                                        .stopped = is_stopped,
                                        .context = trial };
    random_bytes(&trial->order.nonce, sizeof trial->order.nonce);
}

static inline struct measurement *measure(struct trial *trial)
{
    if (!cell_measure(&trial->order, &trial->result, &trial->error))
        fail_msg("%s", trial->error.message);
    return &trial->result.measurement;
}

static inline void *measure_on_thread(void *context)
{
    struct trial *trial = context;

    trial->succeeded = cell_measure(&trial->order, &trial->result, &trial->error);
    return NULL;
}

/* Begins the measurement on its own thread. Several trials at once take no longer than one, because
 * they mostly wait. */
static inline void begin(struct trial *trial)
{
    assert_int_equal(pthread_create(&trial->thread, NULL, measure_on_thread, trial), 0);
}

/* Waits for the trial that begin() started, and returns its measurement. */
static inline struct measurement *await(struct trial *trial)
{
    pthread_join(trial->thread, NULL);
    if (!trial->succeeded)
        fail_msg("%s", trial->error.message);
    return &trial->result.measurement;
}

/* Prepares the trial for another measurement. */
static inline void prepare_again(struct trial *trial)
{
    cell_result_finish(&trial->result);
    trial->order.nonce++;
}

static inline void tear_down(struct trial *trial)
{
    cell_result_finish(&trial->result);
    simserve_stop(&trial->server);
}

static inline double quantile_ms(const struct histogram *histogram, double q)
{
    return (double)histogram_quantile(histogram, q, NULL) / 1e6;
}

/* ThreadSanitizer makes every thread stall, so figures are less accurate. */
#ifdef __SANITIZE_THREAD__
#define STALL_MS 500.0
#else
#define STALL_MS 0.0
#endif

/* Asserts that the client's quantile differs from the true one by at most 3 ms or 2 %, whichever is
 * more, plus the lateness that the client reports and STALL_MS. */
static inline void check_quantile(const struct histogram *client, const struct histogram *truth,
                                  double q, const struct measurement *measurement)
{
    double got = quantile_ms(client, q), true_ms = quantile_ms(truth, q);
    double allowed = fmax(3, 0.02 * true_ms) + measurement->lag_p99_ms + STALL_MS;

    if (fabs(got - true_ms) > allowed)
        fail_msg("p%g: got %.3f ms, expected %.3f ms, with a tolerance of %.3f ms", 100 * q, got,
                 true_ms, allowed);
}
