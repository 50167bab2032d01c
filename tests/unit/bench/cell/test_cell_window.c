/* SPDX-License-Identifier: Apache-2.0 */
/* The load of a cell on simserve: open loops below and above simserve's capacity, think time, the
 * ramp, the length of the window, and whether the pace in it was even. */
#include <stdlib.h>
#include <string.h>

#include "base/net/outbound.h"
#include "tests/unit/support/cell_trial.h"

static void set_up_open(struct trial *trial, enum arrival process, double rate,
                        const char *const *flags)
{
    set_up(trial, flags);
    trial->plan.arrival = process;
    trial->plan.burstiness = 1;
    trial->plan.window_s = 1;
    trial->plan.ttft_timeout_s = 30;
    trial->order.request_rate = rate;
    trial->order.concurrency = 1000;
}

static void read_truth(const struct trial *trial, struct truth *truth)
{
    struct error error;

    truth_create(truth);
    if (!truth_read(trial->endpoint.url, &trial->result, trial->order.nonce, truth, &error))
        fail_msg("%s", error.message);
}

static int by_due(const void *a, const void *b)
{
    const struct record *left = a, *right = b;

    return (left->due_us > right->due_us) - (left->due_us < right->due_us);
}

/* Returns the cell's records except the probe's, in the order in which the requests were due. Free
 * with request_records_finish. */
static struct request_records load_records(const struct trial *trial)
{
    struct request_records records;
    struct error error;
    size_t kept = 0;

    if (!request_records_unpack(trial->result.records, trial->result.records_length, &records,
                                &error))
        fail_msg("%s", error.message);
    for (size_t i = 0; i < records.count; i++)
        if (records.rows[i].phase != RECORD_PROBE)
            records.rows[kept++] = records.rows[i];
    records.count = kept;
    qsort(records.rows, kept, sizeof *records.rows, by_due);
    return records;
}

/* Measures the cell until all requests have been answered, at most six times: on a busy machine,
 * some may still be in flight at the end. */
static struct measurement *measure_answered(struct trial *trial)
{
    struct measurement *m = measure(trial);

    for (int i = 0; i < 5 && m->unanswered > 0; i++) {
        prepare_again(trial);
        m = measure(trial);
    }
    assert_int_equal(m->unanswered, 0);
    assert_int_equal(m->succeeded, m->attempted);
    return m;
}

/* ---- Open loops ------------------------------------------------------------------------------ */

static void below_capacity_every_request_is_sent_when_it_is_due(void **state)
{
    struct trial trial;
    struct truth truth;

    (void)state;
    set_up_open(&trial, ARRIVAL_POISSON, 150, NULL);
    const struct measurement *m = measure_answered(&trial);
    assert_int_equal(trial.result.state, CELL_MEASURED);
    assert_true(m->request_rate_asked == 150);
    assert_true(fabs(m->request_rate_scheduled - 150) < 6 * sqrt(150));
    assert_int_equal(m->attempted, llround(m->request_rate_scheduled * m->window_s));
    assert_true(m->unsent == 0 && m->waited_for_room == 0);
    assert_false(m->overloaded);
    assert_true(isnan(m->concurrency_expected));
    read_truth(&trial, &truth);
    assert_int_equal(truth.joined, m->succeeded);
    static const double quantiles[] = { 0.5, 0.99 };

    for (size_t i = 0; i < sizeof quantiles / sizeof *quantiles; i++) {
        check_quantile(trial.result.histograms[METRIC_TTFT], truth.ttft_due, quantiles[i], m);
        check_quantile(trial.result.histograms[METRIC_TTFT_SENT], truth.ttft, quantiles[i], m);
    }
    truth_finish(&truth);
    tear_down(&trial);
}

/* The server handles two requests at a time, 19 ms each, so it answers 105 of 300 requests/s. */
static void above_capacity_the_queue_is_reported_and_nothing_is_lost(void **state)
{
    struct trial trial;

    (void)state;
    set_up_open(&trial, ARRIVAL_CONSTANT, 300, (const char *[]){ "--max-running", "2", NULL });
    const struct measurement *m = measure(&trial);
    assert_int_equal(trial.result.state, CELL_MEASURED);
    assert_in_range(m->attempted, 299, 301);
    assert_true(m->request_throughput < 120);
    /* Both count the requests that ended in the window. */
    assert_true(m->goodput == m->request_throughput);
    assert_true(m->overloaded);
    if (fabs(m->queue_growth - (300 - m->request_throughput)) > 30)
        fail_msg("the queue grew by %.1f/s while %.1f of 300 requests/s were answered",
                 m->queue_growth, m->request_throughput);
    assert_true(m->unanswered > 0);
    assert_int_equal(m->attempted, m->succeeded + m->unanswered);
    assert_int_equal(m->latency[METRIC_E2E].count, m->attempted);
    assert_int_equal(m->latency[METRIC_E2E].censored, m->unanswered);
    assert_true(m->latency[METRIC_E2E].p99_censored);
    /* After the window of 1 s, the cell still waited for answers. */
    assert_true(m->latency[METRIC_E2E].p99_ms > 1000);
    tear_down(&trial);
}

/* Each second, 125 requests are due and 105 are answered, and at most four can be in flight. In the
 * end, all are answered, but late: their latency includes the time that they waited before they
 * were sent. */
static void latency_counts_from_the_scheduled_time(void **state)
{
    struct trial trial;
    struct truth truth;

    (void)state;
    set_up_open(&trial, ARRIVAL_CONSTANT, 125, (const char *[]){ "--max-running", "2", NULL });
    trial.order.concurrency = 4;
    const struct measurement *m = measure_answered(&trial);
    read_truth(&trial, &truth);
    assert_int_equal(truth.joined, m->succeeded);
    static const double quantiles[] = { 0.1, 0.5, 0.9 };

    for (size_t i = 0; i < sizeof quantiles / sizeof *quantiles; i++) {
        check_quantile(trial.result.histograms[METRIC_TTFT], truth.ttft_due, quantiles[i], m);
        check_quantile(trial.result.histograms[METRIC_TTFT_SENT], truth.ttft, quantiles[i], m);
    }
    assert_true(fabs(m->latency[METRIC_E2E].mean_ms - m->latency[METRIC_QUEUE].mean_ms
                     - m->latency[METRIC_E2E_SENT].mean_ms)
                < 0.01);
    assert_true(m->latency[METRIC_QUEUE].p50_ms > m->latency[METRIC_TTFT_SENT].p50_ms / 10);
    truth_finish(&truth);
    tear_down(&trial);
}

/* The server answers 105 of 300 requests/s. Only four can be in flight: the others wait in the load
 * generator, and that time counts too. */
static void waiting_in_the_client_counts_like_waiting_in_the_server(void **state)
{
    struct trial trial;

    (void)state;
    set_up_open(&trial, ARRIVAL_CONSTANT, 300, (const char *[]){ "--max-running", "2", NULL });
    trial.order.concurrency = 4;
    const struct measurement *m = measure(&trial);
    const struct latency_summary *sent = &m->latency[METRIC_TTFT_SENT];
    assert_in_range(m->attempted, 299, 301);
    assert_in_range(m->concurrency_max, 3, 4);
    assert_true(m->waited_for_room > 200);
    assert_true(m->unsent > 0 && m->unsent <= m->unanswered);
    assert_int_equal(m->unsent, m->attempted - sent->count);
    assert_true(m->overloaded);
    assert_true(m->request_rate_sent < 150);
    assert_true(sent->p50_ms < 200 && m->latency[METRIC_TTFT].p50_ms > 500);
    assert_true(m->start_lag_p99_ms < 200); /* waiting for room is not lag */
    tear_down(&trial);
}

static void threads_share_one_schedule(void **state)
{
    struct trial trial;
    struct request_records records;

    (void)state;
    set_up_open(&trial, ARRIVAL_CONSTANT, 400, NULL);
    trial.order.concurrency = 5000; /* more users than one thread can have */
    trial.order.shards = 3;
    trial.plan.ramp_s = 0.2;
    const struct measurement *m = measure_answered(&trial);
    assert_in_range(m->attempted, 399, 401);
    assert_true(m->warmup_s >= 0.2);
    records = load_records(&trial);
    for (size_t i = 1; i < records.count; i++)
        if (records.rows[i].phase == RECORD_WINDOW) /* later ones may be missing */
            assert_in_range(records.rows[i].due_us - records.rows[i - 1].due_us, 2499, 2501);
    request_records_finish(&records);
    tear_down(&trial);
}

/* Between the arrivals of a Poisson process, the mean of the squared gaps is twice the square of
 * the mean gap. */
static void requests_are_due_at_random_times_and_never_sent_early(void **state)
{
    struct trial trial;
    struct request_records records;
    double sum = 0, squares = 0, gaps;

    (void)state;
    set_up_open(&trial, ARRIVAL_POISSON, 400, NULL);
    measure(&trial);
    records = load_records(&trial);
    gaps = (double)records.count - 1;
    for (size_t i = 1; i < records.count; i++) {
        double gap = (double)(records.rows[i].due_us - records.rows[i - 1].due_us);

        sum += gap;
        squares += gap * gap;
        assert_true(records.rows[i].sent_us >= records.rows[i].due_us);
    }
    assert_true(fabs(sum / gaps / 2500 - 1) < 0.25);
    assert_true(fabs(squares * gaps / (sum * sum) - 2) < 0.6);
    request_records_finish(&records);
    tear_down(&trial);
}

/* Each request takes 0.8 s, but the planned window only 0.3 s, and no request ends during the
 * warm-up. */
static void an_open_window_shorter_than_a_request_is_extended_until_some_have_ended(void **state)
{
    struct trial trial;

    (void)state;
    for (int counted = 0; counted < 2; counted++) {
        set_up_open(&trial, ARRIVAL_CONSTANT, 20, (const char *[]){ "--ttft-ms", "800", NULL });
        trial.plan.window_s = 0.3;
        trial.plan.requests = counted == 1 ? 4 : 0;
        trial.plan.warmup_limit_s = 0.1;
        const struct measurement *m = measure_answered(&trial);
        assert_int_equal(trial.result.state, CELL_MEASURED);
        assert_true(m->window_s > 0.3);
        assert_true(m->request_throughput > 0 && m->output_throughput > 0);
        assert_int_equal(m->attempted, llround(m->request_rate_scheduled * m->window_s));
        tear_down(&trial);
    }
}

static void an_open_loop_gives_up_on_a_server_that_only_fails(void **state)
{
    struct trial trial;

    (void)state;
    set_up_open(&trial, ARRIVAL_CONSTANT, 50, (const char *[]){ "--fault", "internal=1", NULL });
    trial.order.probe = false;
    trial.plan.warmup_limit_s = 60;
    const struct measurement *m = measure(&trial);
    assert_int_equal(trial.result.state, CELL_FAILED);
    assert_true(m->failures[FAILURE_SERVER_ERROR] >= 20);
    tear_down(&trial);
}

/* ---- Windows --------------------------------------------------------------------------------- */

static void a_window_can_end_after_a_given_number_of_requests(void **state)
{
    struct trial trial;

    (void)state;
    set_up(&trial, NULL);
    trial.plan.requests = 50;
    trial.plan.window_s = 30;
    const struct measurement *m = measure(&trial);
    assert_in_range(m->attempted, 50, 53); /* several can end at once */
    assert_true(m->window_s < 10);
    prepare_again(&trial);
    /* With one user, throughput times latency is 1, because requests that end after the last
     * counted one do not move the window's end. */
    trial.order.concurrency = 1;
    trial.plan.requests = 4;
    m = measure(&trial);
    if (fabs(m->request_throughput * m->latency[METRIC_E2E].mean_ms / 1e3 - 1) > 0.12)
        fail_msg("got %.3f requests/s of %.0f ms each, expected a product of 1",
                 m->request_throughput, m->latency[METRIC_E2E].mean_ms);
    prepare_again(&trial);
    trial.plan.requests = 50;
    trial.order.concurrency = 64;
    trial.plan.arrival = ARRIVAL_POISSON;
    trial.order.request_rate = 200;
    assert_int_equal(measure_answered(&trial)->attempted, 50);
    tear_down(&trial);
}

static void set_up_precise(struct trial *trial, double width, double limit_s)
{
    set_up(trial, (const char *[]){ "--jitter", "0.3", NULL });
    trial->plan.window_s = 0.5;
    trial->plan.ci_width = width;
    trial->plan.window_limit_s = limit_s;
}

static void a_window_is_extended_until_throughput_is_precise_or_the_limit_is_reached(void **state)
{
    struct trial precise, closed, open;

    (void)state;
    set_up_precise(&precise, 0.2, 20);
    begin(&precise);
    set_up_precise(&closed, 1e-6, 1.5);
    begin(&closed);
    set_up_precise(&open, 1e-6, 1.5);
    open.plan.arrival = ARRIVAL_POISSON;
    open.plan.burstiness = 1;
    open.order.request_rate = 100;
    begin(&open);
    const struct measurement *m = await(&precise);
    assert_true(m->throughput_ci <= 0.2);
    assert_true(m->window_s < 20);
    m = await(&closed);
    assert_true(m->throughput_ci > 1e-6);
    assert_true(m->window_s >= 1.5);
    m = await(&open);
    assert_true(m->window_s >= 1.4 && m->throughput_ci > 1e-6);
    tear_down(&precise);
    tear_down(&closed);
    tear_down(&open);
}

static void says_whether_the_load_had_settled(void **state)
{
    struct trial trial;

    (void)state;
    set_up(&trial, NULL);
    trial.plan.warmup_limit_s = 0;
    trial.plan.requests = 4;
    assert_true(measure(&trial)->unsettled);
    prepare_again(&trial);
    trial.plan.warmup_limit_s = 30;
    const struct measurement *m = measure(&trial);
    assert_false(m->unsettled);
    assert_true(m->warmup_s >= 2 && m->warmup_s < 30); /* two spans of one second were compared */
    tear_down(&trial);
}

/* ---- Users ----------------------------------------------------------------------------------- */

static void users_who_are_thinking_have_no_request_in_flight(void **state)
{
    struct trial trial;

    (void)state;
    for (int exponential = 0; exponential < 2; exponential++) {
        set_up(&trial, NULL);
        trial.order.concurrency = 24;
        trial.plan.think_time_s = 0.1;
        trial.plan.think_time = exponential == 1 ? THINK_EXPONENTIAL : THINK_FIXED;
        trial.plan.warmup_limit_s = 0.4;
        trial.plan.window_s = 1;
        const struct measurement *m = measure(&trial);
        assert_int_equal(m->succeeded, m->attempted);
        assert_true(m->concurrency_expected < 24);
        /* The expected number is computed from the think times that were drawn, because their mean
         * over one second can be far from the mean of the distribution. */
        if (fabs(m->concurrency_actual - m->concurrency_expected) > 0.8)
            fail_msg("got %.2f requests in flight, expected %.2f", m->concurrency_actual,
                     m->concurrency_expected);
        assert_true(m->start_lag_p99_ms < 100); /* thinking is not lag */
        tear_down(&trial);
    }
}

static void users_start_spread_over_the_ramp(void **state)
{
    struct trial trial;
    struct request_records records;

    (void)state;
    set_up(&trial, NULL);
    trial.order.concurrency = 8;
    trial.plan.ramp_s = 0.4;
    trial.plan.think_time_s = 0.6; /* so long that each user sends only once in the ramp */
    measure(&trial);
    records = load_records(&trial);
    assert_in_range(records.count, 8, 40);
    for (size_t i = 1; i < 8; i++)
        assert_in_range(records.rows[i].due_us - records.rows[i - 1].due_us, 25000, 75000);
    request_records_finish(&records);
    tear_down(&trial);
}

/* ---- An uneven pace -------------------------------------------------------------------------- */

static void configure(const struct trial *trial, const char *settings)
{
    struct outbound_response response = { 0 };
    struct error error;
    char url[64];

    snprintf(url, sizeof url, "http://127.0.0.1:%d/sim/config", trial->server.port);
    const struct outbound_request request = { .url = url,
                                              .body = settings,
                                              .body_length = strlen(settings) };
    if (!outbound_perform(&request, &response, &error))
        fail_msg("%s", error.message);
    outbound_response_finish(&response);
}

struct slowing {
    struct trial trial;
    int64_t window_ns; /* when the progress first showed the window; 0: not yet */
    bool slowed;
    double tokens_per_s, ttft_ms; /* as the progress first showed them */
};

/* Called repeatedly with the progress. Halfway through the window, it slows the server from 2 ms to
 * 8 ms per token. */
static bool slow_down_halfway(void *context, const char *doing, double elapsed_s)
{
    struct slowing *slowing = context;
    int64_t now_ns = clock_monotonic_ns();

    (void)elapsed_s;
    if (slowing->ttft_ms <= 0)
        sscanf(doing, "measuring: %lf tokens/s, TTFT %lf ms", &slowing->tokens_per_s,
               &slowing->ttft_ms);
    if (strncmp(doing, "measuring", 9) == 0 && slowing->window_ns == 0)
        slowing->window_ns = now_ns;
    if (slowing->window_ns != 0 && !slowing->slowed
        && (double)(now_ns - slowing->window_ns) / 1e9 > slowing->trial.plan.window_s / 2) {
        configure(&slowing->trial, "{\"step_ms\":8}");
        slowing->slowed = true;
    }
    return false;
}

static void a_stall_or_a_change_of_speed_is_reported(void **state)
{
    struct slowing slowing = { 0 };
    struct trial stalled, *slowed = &slowing.trial;
    const struct measurement *m;

    (void)state;
    set_up(&stalled,
           (const char *[]){ "--fault", "stall_mid_stream/40", "--stall-ms", "1500", NULL });
    stalled.order.concurrency = 1;
    stalled.plan.window_s = 2.5;
    stalled.plan.idle_timeout_s = 10;
    set_up(slowed, NULL);
    slowed->plan.window_s = 3.6;
    slowed->order.stopped = slow_down_halfway;
    slowed->order.context = &slowing;
    begin(&stalled);
    begin(slowed);
    m = await(&stalled);
    assert_true(m->uneven);
    assert_in_range(m->silence_s * 1000, 1300, 10000);
    assert_non_null(
        strstr(stalled.result.reason, "during the window, though requests were in flight"));
    m = await(slowed);
    assert_true(m->uneven);
    assert_non_null(strstr(slowed->result.reason, " slower"));
    /* There are 4 users, whose requests take 5 + 7 x 2 ms for 8 tokens. */
    assert_in_range(slowing.tokens_per_s, 400, 1750);
    assert_in_range(slowing.ttft_ms, 5, 100);
    tear_down(&stalled);
    tear_down(slowed);
}

/* While the only user thinks, nothing arrives, because nothing is in flight. */
static void a_pause_without_requests_is_not_a_stall(void **state)
{
    struct trial trial;

    (void)state;
    set_up(&trial, NULL);
    trial.order.concurrency = 1;
    trial.plan.think_time_s = 1.3;
    trial.plan.window_s = 3;
    const struct measurement *m = measure(&trial);
    assert_false(m->uneven);
    tear_down(&trial);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stall_or_a_change_of_speed_is_reported),
        cmocka_unit_test(a_pause_without_requests_is_not_a_stall),
        cmocka_unit_test(below_capacity_every_request_is_sent_when_it_is_due),
        cmocka_unit_test(above_capacity_the_queue_is_reported_and_nothing_is_lost),
        cmocka_unit_test(latency_counts_from_the_scheduled_time),
        cmocka_unit_test(waiting_in_the_client_counts_like_waiting_in_the_server),
        cmocka_unit_test(threads_share_one_schedule),
        cmocka_unit_test(requests_are_due_at_random_times_and_never_sent_early),
        cmocka_unit_test(an_open_window_shorter_than_a_request_is_extended_until_some_have_ended),
        cmocka_unit_test(an_open_loop_gives_up_on_a_server_that_only_fails),
        cmocka_unit_test(a_window_can_end_after_a_given_number_of_requests),
        cmocka_unit_test(a_window_is_extended_until_throughput_is_precise_or_the_limit_is_reached),
        cmocka_unit_test(says_whether_the_load_had_settled),
        cmocka_unit_test(users_who_are_thinking_have_no_request_in_flight),
        cmocka_unit_test(users_start_spread_over_the_ramp),
    };
    struct error error;

    if (!outbound_global_init(&error))
        return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    outbound_global_finish();
    return failed;
}
