/* SPDX-License-Identifier: Apache-2.0 */
/* Measurements over TLS and HTTP/2. Through a proxy that supports both, a cell's figures still
 * agree with the server's own record. A server is not measured if its certificate is not trusted,
 * or if the plan requires HTTP/2 and the server does not support it. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/core/random.h"
#include "base/net/outbound.h"
#include "bench/cell/cell.h"
#include "tests/simserve/harness/process.h"
#include "tests/simserve/harness/truth.h"
#include "tests/unit/support/proxy.h"

#define USERS 8

struct trial {
    struct simserve server;
    struct proxy proxy;
    struct endpoint endpoint;
    struct workload workload;
    struct plan plan;
    struct cell_order order;
    struct cell_result result;
    struct error error;
};

static bool never(void *context, const char *doing, double elapsed_s)
{
    (void)context, (void)doing, (void)elapsed_s;
    return false;
}

static void make_workload(struct workload *out)
{
    *out = (struct workload){ .api = BENCH_COMPLETIONS,
                              .form = PROMPT_IDS,
                              .tokens_per_piece = 1,
                              .fields = FIELD_MAX_TOKENS | FIELD_STREAM_USAGE | FIELD_IGNORE_EOS,
                              .reports_usage = true,
                              .piece_count = 512 };
    for (int i = 0; i < 512; i++)
        snprintf(out->pieces[i], WORKLOAD_PIECE_SIZE, "%d", 1000 + i);
}

static void set_up(struct trial *trial, int64_t http2_streams)
{
    *trial = (struct trial){ .server = simserve_start(
                                 (const char *[]){ "--ttft-ms", "40", "--step-ms", "20", "--jitter",
                                                   "0.3", "--truth-chunks", "true", NULL }) };
    trial->proxy = proxy_start(trial->server.port);
    snprintf(trial->endpoint.url, sizeof trial->endpoint.url, "https://127.0.0.1:%d",
             trial->proxy.port);
    snprintf(trial->endpoint.model, sizeof trial->endpoint.model, "simserve/toy");
    make_workload(&trial->workload);
    trial->plan = (struct plan){ .window_s = 1.2,
                                 .warmup_limit_s = 0.6,
                                 .seed = 1,
                                 .http2_streams = http2_streams,
                                 .ttft_timeout_s = 10,
                                 .idle_timeout_s = 10,
                                 .request_timeout_s = 30 };
    trial->order = (struct cell_order){ .endpoint = &trial->endpoint,
                                        .workload = &trial->workload,
                                        .plan = &trial->plan,
                                        .concurrency = USERS,
                                        .input_tokens = 64,
                                        .output_tokens = 8,
                                        .probe = true,
                                        .shards = 1,
                                        .stopped = never };
    random_bytes(&trial->order.nonce, sizeof trial->order.nonce);
    setenv("SSL_CERT_FILE", trial->proxy.certificate, 1);
}

static void tear_down(struct trial *trial)
{
    unsetenv("SSL_CERT_FILE");
    cell_result_finish(&trial->result);
    proxy_stop(&trial->proxy);
    simserve_stop(&trial->server);
}

static const struct measurement *measure(struct trial *trial)
{
    if (!cell_measure(&trial->order, &trial->result, &trial->error))
        fail_msg("%s", trial->error.message);
    return &trial->result.measurement;
}

/* Asserts that the client's quantile differs from the server's (the truth) by at most the client's
 * lateness plus 5 ms or 5 %, whichever is larger, because the proxy takes time, too. */
static void check_quantile(const struct histogram *client, const struct histogram *truth, double q,
                           const struct measurement *measurement)
{
    double got = (double)histogram_quantile(client, q, NULL) / 1e6;
    double true_ms = (double)histogram_quantile(truth, q, NULL) / 1e6;
    double allowed = fmax(5, 0.05 * true_ms) + measurement->lag_p99_ms;

    if (fabs(got - true_ms) > allowed)
        fail_msg("p%g: got %.3f ms, expected %.3f ms with a difference of at most %.3f ms", 100 * q,
                 got, true_ms, allowed);
}

static void check_against_the_record(struct trial *trial, const struct measurement *m)
{
    struct truth truth;
    char url[64];

    if (trial->result.state != CELL_MEASURED)
        fail_msg("%s", trial->result.reason);
    assert_int_equal(m->succeeded, m->attempted);
    assert_int_equal(m->input_tokens_min, 64);
    assert_int_equal(m->output_tokens_max, 8);
    snprintf(url, sizeof url, "http://127.0.0.1:%d", trial->server.port);
    truth_create(&truth);
    assert_true(truth_read(url, &trial->result, trial->order.nonce, &truth, &trial->error));
    assert_int_equal(truth.joined, m->succeeded);
    check_quantile(trial->result.histograms[METRIC_TTFT], truth.ttft, 0.5, m);
    check_quantile(trial->result.histograms[METRIC_ITL], truth.itl, 0.5, m);
    truth_finish(&truth);
}

static void figures_over_tls_agree_with_the_servers_record(void **state)
{
    struct trial trial;

    (void)state;
    set_up(&trial, 0);
    const struct measurement *m = measure(&trial);
    check_against_the_record(&trial, m);
    assert_int_equal(m->new_connections, USERS);
    assert_true(m->connect_p50_ms > 0);
    assert_true(m->tls_p50_ms > 0 && m->tls_p50_ms <= m->tls_p99_ms);
    tear_down(&trial);
}

static void a_certificate_from_an_unknown_authority_is_refused(void **state)
{
    struct trial trial;

    (void)state;
    set_up(&trial, 0);
    unsetenv("SSL_CERT_FILE");
    measure(&trial);
    assert_int_equal(trial.result.state, CELL_FAILED);
    assert_memory_equal(trial.result.reason, "tls: ", 5);
    tear_down(&trial);
}

static void http2_over_tls_shares_connections(void **state)
{
    struct trial trial;

    (void)state;
    set_up(&trial, USERS / 2);
    const struct measurement *m = measure(&trial);
    check_against_the_record(&trial, m);
    assert_in_range(m->new_connections, 2, USERS - 1);
    assert_true(m->tls_p50_ms > 0);
    assert_true(m->concurrency_actual > 0.9 * USERS);
    tear_down(&trial);
}

static void a_server_without_http2_is_not_measured_if_the_plan_requires_http2(void **state)
{
    struct trial trial;

    (void)state;
    set_up(&trial, 4);
    snprintf(trial.endpoint.url, sizeof trial.endpoint.url, "http://127.0.0.1:%d",
             trial.server.port);
    measure(&trial);
    assert_string_equal(trial.result.reason, "protocol: the server answers with HTTP/1, but the "
                                             "plan requires HTTP/2");
    assert_int_equal(trial.result.measurement.succeeded, 0);
    tear_down(&trial);
}

/* Requests outside a cell trust the same certificate authorities as a cell's requests. */
static void single_requests_trust_the_same_authorities_as_cells(void **state)
{
    struct trial trial;
    struct outbound_response response = { 0 };
    TEXT_AUTO url = { 0 };

    (void)state;
    set_up(&trial, 0);
    text_addf(&url, "%s/v1/models", trial.endpoint.url);
    const struct outbound_request request = { .url = url.data };
    if (!outbound_perform(&request, &response, &trial.error))
        fail_msg("%s", trial.error.message);
    outbound_response_finish(&response);
    unsetenv("SSL_CERT_FILE");
    response = (struct outbound_response){ 0 };
    assert_false(outbound_perform(&request, &response, &trial.error));
    assert_int_equal(response.failure, FAILURE_TLS);
    outbound_response_finish(&response);
    tear_down(&trial);
}

/* ---- The lock of a deployed server: its certificate authorities and its key ------------------ */

struct test_lock {
    struct endpoint_lock lock; /* must come first: next_key casts it */
    struct outbound_tls tls;
    char authorities[16384];
    atomic_int asked;
};

static bool next_key(const struct endpoint_lock *lock, char out[SECRET_VALUE_SIZE],
                     struct error *error)
{
    struct test_lock *test_lock = (struct test_lock *)(uintptr_t)lock;

    (void)error;
    snprintf(out, SECRET_VALUE_SIZE, "key-of-this-lock-%d", atomic_fetch_add(&test_lock->asked, 1));
    return true;
}

static void read_file(const char *path, char *out, size_t size)
{
    FILE *file = fopen(path, "r");

    assert_non_null(file);
    out[fread(out, 1, size - 1, file)] = '\0';
    fclose(file);
}

static void the_locks_authorities_are_trusted_and_its_key_is_renewed(void **state)
{
    struct test_lock test_lock = { .lock = { .tls = &test_lock.tls, .key = next_key },
                                   .tls = { test_lock.authorities, "", "" } };
    struct trial trial;

    (void)state;
    set_up(&trial, 0);
    unsetenv("SSL_CERT_FILE");
    assert_int_equal(measure(&trial)->succeeded, 0);
    cell_result_finish(&trial.result);
    read_file(trial.proxy.certificate, test_lock.authorities, sizeof test_lock.authorities);
    trial.endpoint.lock = &test_lock.lock;
    const struct measurement *m = measure(&trial);
    if (trial.result.state != CELL_MEASURED)
        fail_msg("%s", trial.result.reason);
    assert_int_equal(m->succeeded, m->attempted);
    assert_true(atomic_load(&test_lock.asked) >= 2);
    tear_down(&trial);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figures_over_tls_agree_with_the_servers_record),
        cmocka_unit_test(a_certificate_from_an_unknown_authority_is_refused),
        cmocka_unit_test(http2_over_tls_shares_connections),
        cmocka_unit_test(a_server_without_http2_is_not_measured_if_the_plan_requires_http2),
        cmocka_unit_test(single_requests_trust_the_same_authorities_as_cells),
        cmocka_unit_test(the_locks_authorities_are_trusted_and_its_key_is_renewed),
    };
    struct error error;

    if (!outbound_global_init(&error))
        return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    outbound_global_finish();
    return failed;
}
