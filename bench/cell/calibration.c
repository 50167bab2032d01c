/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/cell/calibration.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/clock.h"
#include "base/core/memory.h"
#include "base/core/random.h"
#include "bench/cell/cell.h"
#include "bench/cell/loopback_server.h"

#define STREAMS 64
#define WINDOW_S 0.5
#define WARMUP_S 0.25
#define INPUT_TOKENS 16
#define TIMEOUT_S 5.0

struct calibration {
    pthread_mutex_t lock;
    struct ceiling ceiling;
};

/* How the caller stops the measurement. */
struct stop_check {
    bool (*stopped)(void *context);
    void *context;
};

static bool is_stopped(void *context, const char *doing, double elapsed_s)
{
    const struct stop_check *stop_check = context;

    (void)doing, (void)elapsed_s;
    return stop_check->stopped(stop_check->context);
}

static void make_workload(struct workload *out)
{
    *out = (struct workload){ .api = BENCH_COMPLETIONS,
                              .form = PROMPT_IDS,
                              .source = "calibration",
                              .tokens_per_piece = 1,
                              .reports_usage = true,
                              .fields = FIELD_MAX_TOKENS | FIELD_STREAM_USAGE,
                              .piece_count = WORKLOAD_PIECES };
    for (int i = 0; i < WORKLOAD_PIECES; i++)
        snprintf(out->pieces[i], WORKLOAD_PIECE_SIZE, "%d", 1000 + i);
}

static CHECKED bool measure(const struct cell_order *order, struct ceiling *out,
                            struct error *error)
{
    struct cell_result result;
    const struct measurement *measurement = &result.measurement;
    bool done = cell_measure(order, &result, error);

    if (done && result.state != CELL_MEASURED)
        done = error_set(error, ERROR_BUSY, "the load generator could not be calibrated: %s",
                         result.reason);
    if (done)
        *out =
            (struct ceiling){ .streams = order->concurrency,
                              .chunks_per_s = (double)measurement->chunks / measurement->window_s,
                              .cpu_percent = measurement->cpu_percent,
                              .lag_p99_ms = measurement->lag_p99_ms,
                              .measured_ms = clock_utc_ms() };
    cell_result_finish(&result);
    return done;
}

static CHECKED bool calibrate(struct stop_check *stop_check, int port, struct ceiling *out,
                              struct error *error)
{
    const struct plan plan = { .window_s = WINDOW_S,
                               .warmup_limit_s = WARMUP_S,
                               .ttft_timeout_s = TIMEOUT_S,
                               .idle_timeout_s = TIMEOUT_S,
                               .request_timeout_s = TIMEOUT_S };
    struct workload *workload = memory_zeroed(1, sizeof *workload);
    struct endpoint endpoint = { .model = "calibration" };
    uint64_t nonce;
    struct cell_order order = { .endpoint = &endpoint,
                                .workload = workload,
                                .plan = &plan,
                                .concurrency = STREAMS,
                                .input_tokens = INPUT_TOKENS,
                                .output_tokens = LOOPBACK_SERVER_TOKENS,
                                .shards = 1,
                                .stopped = is_stopped,
                                .context = stop_check };
    bool done;

    random_bytes(&nonce, sizeof nonce);
    make_workload(workload);
    order.nonce = nonce;
    snprintf(endpoint.url, sizeof endpoint.url, "http://127.0.0.1:%d", port);
    done = measure(&order, out, error);
    free(workload);
    return done;
}

static CHECKED bool calibrate_on_loopback(struct stop_check *stop_check, struct ceiling *out,
                                          struct error *error)
{
    struct loopback_server *loopback;
    bool done;
    int port;

    if (!loopback_server_create(&loopback, &port, error))
        return false;
    done = calibrate(stop_check, port, out, error);
    loopback_server_destroy(loopback);
    return done;
}

bool calibration_get(struct calibration *calibration, bool (*stopped)(void *context), void *context,
                     struct ceiling *out, struct error *error)
{
    struct stop_check stop_check = { stopped, context };
    bool done = true;

    pthread_mutex_lock(&calibration->lock);
    if (calibration->ceiling.measured_ms == 0)
        done = calibrate_on_loopback(&stop_check, &calibration->ceiling, error);
    *out = calibration->ceiling;
    pthread_mutex_unlock(&calibration->lock);
    return done;
}

struct calibration *calibration_create(void)
{
    struct calibration *calibration = memory_zeroed(1, sizeof *calibration);

    pthread_mutex_init(&calibration->lock, NULL);
    return calibration;
}

void calibration_destroy(struct calibration *calibration)
{
    if (calibration == NULL)
        return;
    pthread_mutex_destroy(&calibration->lock);
    free(calibration);
}
