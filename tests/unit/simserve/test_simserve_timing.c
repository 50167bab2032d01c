/* SPDX-License-Identifier: Apache-2.0 */
/* simserve's plan (when to write each chunk) and its record of what it really did. Planned times
 * are compared exactly; for actual times, the bounds are so wide that even a busy machine meets
 * them. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/simserve/harness/simserve.h"

#define MS 1000000
#define LABELS "{engine=\"0\",model_name=\"simserve/toy\"}"

#define SERVER_AUTO __attribute__((cleanup(stop))) struct simserve

static void stop(struct simserve *server)
{
    if (server->pid)
        assert_int_equal(simserve_stop(server), 0);
}

/* Opens a connection and requests a stream of `tokens` output tokens. The prompt consists of
 * `prompt_tokens` consecutive token ids, which begin with first_id. Returns the connection. */
static int begin(const struct simserve *server, const char *id, int prompt_tokens, int first_id,
                 int tokens)
{
    TEXT_AUTO headers = { 0 };
    TEXT_AUTO body = { 0 };
    int fd = simserve_connect(server);

    text_addf(&headers, "X-Request-Id: %s\r\n", id);
    text_add(&body, "{\"prompt\":[");
    for (int i = 0; i < prompt_tokens; i++)
        text_addf(&body, i > 0 ? ",%d" : "%d", first_id + i);
    text_addf(&body, "],\"max_tokens\":%d,\"ignore_eos\":true,\"stream\":true}", tokens);
    simserve_send(fd, "POST", "/v1/completions", headers.data, body.data);
    return fd;
}

static void end(int fd)
{
    ANSWER_AUTO answer = { 0 };

    simserve_receive(fd, &answer);
    assert_true(answer.complete);
    close(fd);
}

/* Runs one request, and returns its record, which the caller releases. */
static json_t *run(const struct simserve *server, const char *id, int prompt_tokens, int first_id,
                   int tokens)
{
    end(begin(server, id, prompt_tokens, first_id, tokens));
    return simserve_truth(server, id);
}

static int64_t number(const json_t *record, const char *name)
{
    return json_get_integer(record, name, -1);
}

static int64_t planned_ttft(const json_t *record)
{
    return number(record, "planned_first_ns") - number(record, "read_ns");
}

static int64_t planned_decode(const json_t *record)
{
    return number(record, "planned_last_ns") - number(record, "planned_first_ns");
}

static void plans_first_token_and_steps_exactly(void **state)
{
    SERVER_AUTO server =
        simserve_start((const char *[]){ "--ttft-ms", "30", "--tokens-per-s", "125", NULL });
    int fd = begin(&server, "a", 4, 0, 5);
    ANSWER_AUTO answer = { 0 };
    json_auto_t *record = NULL;
    int64_t lag_ns;

    (void)state;
    simserve_receive(fd, &answer);
    close(fd);
    record = simserve_truth(&server, "a");
    lag_ns = (int64_t)(1000 * json_get_number(record, "lag_max_us", 0)) + 1;
    assert_int_equal(planned_ttft(record), 30 * MS);
    assert_int_equal(planned_decode(record), 4 * 8 * MS);
    assert_in_range(number(record, "first_write_ns"), number(record, "planned_first_ns"),
                    number(record, "planned_first_ns") + lag_ns);
    assert_in_range(number(record, "last_write_ns"), number(record, "planned_last_ns"),
                    number(record, "planned_last_ns") + lag_ns);
    assert_true(answer.end_ns > number(record, "last_write_ns"));
    assert_int_equal(number(record, "chunks"), 5);
    assert_int_equal(number(record, "output_tokens"), 5);
    assert_int_equal(number(record, "running"), 1);
}

static void prefill_takes_time_for_each_token_that_is_not_cached(void **state)
{
    SERVER_AUTO server = simserve_start(
        (const char *[]){ "--ttft-ms", "5", "--prefill-tokens-per-s", "2000", NULL });
    json_auto_t *first = run(&server, "first", 64, 100, 1);
    json_auto_t *again = run(&server, "again", 64, 100, 1);
    json_auto_t *longer = run(&server, "longer", 70, 100, 1);
    json_auto_t *other = run(&server, "other", 64, 101, 1);

    (void)state;
    assert_int_equal(planned_ttft(first), (5 + 32) * MS);
    /* the block with the prompt's last token is always computed */
    assert_int_equal(number(again, "cached_tokens"), 48);
    assert_int_equal(planned_ttft(again), (5 + 8) * MS);
    assert_int_equal(number(longer, "cached_tokens"), 64);
    assert_int_equal(planned_ttft(longer), (5 + 3) * MS);
    assert_int_equal(number(other, "cached_tokens"), 0);
    assert_true(simserve_metric(&server, "vllm:prefix_cache_queries_total" LABELS) == 262);
    assert_true(simserve_metric(&server, "vllm:prefix_cache_hits_total" LABELS) == 112);
}

static void forgets_cached_prefixes_on_reset_and_when_the_cache_is_switched_off(void **state)
{
    SERVER_AUTO server = simserve_start((const char *[]){ "--ttft-ms", "0", NULL });
    ANSWER_AUTO reset = { 0 };
    json_auto_t *cold = NULL, *off = NULL;

    (void)state;
    json_decref(run(&server, "warm", 64, 100, 1));
    simserve_call(&server, "POST", "/reset_prefix_cache", "", "", &reset);
    cold = run(&server, "cold", 64, 100, 1);
    json_decref(simserve_json(&server, "POST", "/sim/config", "{\"prefix_cache\":false}", 200));
    off = run(&server, "off", 64, 100, 1);
    assert_int_equal(number(cold, "cached_tokens"), 0);
    assert_int_equal(number(off, "cached_tokens"), 0);
}

static void runs_prefills_one_after_the_other_if_serial(void **state)
{
    SERVER_AUTO server =
        simserve_start((const char *[]){ "--ttft-ms", "200", "--prefill-serial", NULL });
    int first = begin(&server, "first", 4, 0, 1), second = begin(&server, "second", 4, 9, 1);
    json_auto_t *a, *b;

    (void)state;
    end(first);
    end(second);
    a = simserve_truth(&server, "first");
    b = simserve_truth(&server, "second");
    assert_int_equal(planned_ttft(a), 200 * MS);
    assert_int_equal(number(b, "planned_first_ns") - number(a, "planned_first_ns"), 200 * MS);
}

static void slows_down_with_each_running_sequence(void **state)
{
    SERVER_AUTO server = simserve_start(
        (const char *[]){ "--ttft-ms", "0", "--step-ms", "3", "--step-ms-per-running", "2", NULL });
    json_auto_t *alone = run(&server, "alone", 4, 0, 4);
    int long_one = begin(&server, "long", 4, 0, 100000 / 5);
    json_auto_t *beside = NULL;

    (void)state;
    simserve_wait_metric(&server, "vllm:num_requests_running" LABELS, 1);
    beside = run(&server, "beside", 4, 0, 4);
    close(long_one);
    assert_int_equal(planned_decode(alone), 3 * (3 + 2) * MS);
    assert_int_equal(planned_decode(beside), 3 * (3 + 2 * 2) * MS);
    assert_int_equal(number(beside, "running"), 2);
}

static void requests_beyond_max_running_wait_in_order_of_arrival(void **state)
{
    SERVER_AUTO server = simserve_start(
        (const char *[]){ "--ttft-ms", "50", "--step-ms", "1", "--max-running", "1", NULL });
    const char *ids[] = { "a", "b", "c" };
    int fds[3];
    int64_t free_ns = 0;

    (void)state;
    for (int i = 0; i < 3; i++)
        fds[i] = begin(&server, ids[i], 4, 0, 3);
    for (int i = 0; i < 3; i++)
        end(fds[i]);
    for (int i = 0; i < 3; i++) {
        json_auto_t *record = simserve_truth(&server, ids[i]);
        int64_t admitted_ns = number(record, "admitted_ns");

        assert_true(admitted_ns >= free_ns);
        assert_int_equal(number(record, "planned_first_ns") - admitted_ns, 50 * MS);
        assert_int_equal(number(record, "running"), 1);
        assert_true(i > 0 || admitted_ns == number(record, "read_ns"));
        free_ns = number(record, "end_ns");
    }
    assert_true(simserve_metric(&server, "vllm:request_queue_time_seconds_count" LABELS) == 3);
}

static void reports_running_and_waiting_requests_and_refuses_one_too_many(void **state)
{
    SERVER_AUTO server = simserve_start((const char *[]){
        "--ttft-ms", "0", "--max-running", "2", "--max-waiting", "1", "--kv-blocks", "100", NULL });
    int fds[3];
    ANSWER_AUTO refused = { 0 };

    (void)state;
    for (int i = 0; i < 3; i++)
        fds[i] = begin(&server, "x", 300, 1000 * i, 400);
    simserve_wait_metric(&server, "vllm:num_requests_waiting" LABELS, 1);
    assert_true(simserve_metric(&server, "vllm:num_requests_running" LABELS) == 2);
    assert_true(simserve_metric(&server, "vllm:kv_cache_usage_perc" LABELS) >= 0.38);
    simserve_call(&server, "POST", "/v1/completions", "", "{\"prompt\":\"a\"}", &refused);
    assert_int_equal(refused.status, 503);
    for (int i = 0; i < 3; i++)
        close(fds[i]);
    simserve_wait_metric(&server, "vllm:num_requests_running" LABELS, 0);
    simserve_wait_metric(&server, "vllm:num_requests_waiting" LABELS, 0);
}

static void queues_a_request_that_does_not_fit_into_the_kv_cache(void **state)
{
    SERVER_AUTO server = simserve_start(
        (const char *[]){ "--ttft-ms", "50", "--step-ms", "1", "--kv-blocks", "10", NULL });
    int first = begin(&server, "first", 96, 0, 4), second = begin(&server, "second", 96, 0, 4);
    json_auto_t *a, *b;

    (void)state;
    end(first);
    end(second);
    a = simserve_truth(&server, "first");
    b = simserve_truth(&server, "second");
    assert_true(number(b, "admitted_ns") >= number(a, "end_ns"));
}

static void notices_a_client_that_leaves(void **state)
{
    SERVER_AUTO server = simserve_start((const char *[]){ "--ttft-ms", "1", NULL });
    int fd = begin(&server, "gone", 4, 0, 1000);
    char bytes[512];
    json_auto_t *record = NULL;

    (void)state;
    assert_true(recv(fd, bytes, sizeof bytes, 0) > 0);
    close(fd);
    record = simserve_truth(&server, "gone");
    assert_string_equal(json_get_text(record, "outcome", ""), "client_closed");
    simserve_wait_metric(&server, "vllm:num_requests_running" LABELS, 0);
    assert_true(simserve_metric(
                    &server, "vllm:request_success_total{engine=\"0\",model_name=\"simserve/toy\","
                             "finished_reason=\"abort\"}")
                == 1);
}

static void only_the_first_prompt_of_a_size_class_takes_cold_shape_ms_longer(void **state)
{
    SERVER_AUTO server =
        simserve_start((const char *[]){ "--ttft-ms", "2", "--cold-shape-ms", "40", NULL });
    static const struct {
        int tokens, ttft_ms;
    } cases[] = { { 100, 42 }, { 127, 2 }, { 64, 2 }, { 128, 42 }, { 63, 42 }, { 200, 2 } };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char id[24];
        json_auto_t *record = NULL;

        snprintf(id, sizeof id, "%zu", i);
        record = run(&server, id, cases[i].tokens, 0, 1);
        assert_int_equal(planned_ttft(record), cases[i].ttft_ms * MS);
    }
}

static void puts_several_tokens_in_a_chunk(void **state)
{
    SERVER_AUTO server = simserve_start(
        (const char *[]){ "--ttft-ms", "0", "--step-ms", "1", "--tokens-per-chunk", "3", NULL });
    json_auto_t *record = run(&server, "a", 4, 0, 10);

    (void)state;
    assert_int_equal(number(record, "output_tokens"), 10);
    assert_int_equal(number(record, "chunks"), 4); /* 1 + 3 + 3 + 3 */
    assert_int_equal(planned_decode(record), 3 * MS);
    assert_true(simserve_metric(&server, "vllm:spec_decode_num_drafts_total" LABELS) == 3);
    assert_true(simserve_metric(&server, "vllm:spec_decode_num_draft_tokens_total" LABELS) == 6);
    assert_true(simserve_metric(&server, "vllm:spec_decode_num_accepted_tokens_total" LABELS) == 6);
    assert_true(simserve_metric(&server, "vllm:generation_tokens_total" LABELS) == 10);
}

static void varies_tokens_per_chunk_around_their_mean(void **state)
{
    SERVER_AUTO server = simserve_start((const char *[]){ "--blast", "--tokens-per-chunk", "2.5",
                                                          "--tokens-per-chunk-geometric", NULL });
    json_auto_t *record = run(&server, "a", 4, 0, 10000);

    (void)state;
    assert_int_equal(number(record, "output_tokens"), 10000);
    assert_in_range(number(record, "chunks"), 3800, 4200);
}

static void repeats_its_jitter_with_the_same_seed(void **state)
{
    const char *flags[] = { "--ttft-ms", "10",     "--step-ms", "1", "--jitter",
                            "0.5",       "--seed", "3",         NULL };
    int64_t ttft[3], decode[3];

    (void)state;
    for (int i = 0; i < 3; i++) {
        SERVER_AUTO server = { 0 };
        json_auto_t *record = NULL;

        flags[7] = i < 2 ? "3" : "4";
        server = simserve_start(flags);
        record = run(&server, "a", 4, 0, 20);
        ttft[i] = planned_ttft(record);
        decode[i] = planned_decode(record);
        assert_in_range(ttft[i], 5 * MS, 15 * MS);
        assert_in_range(decode[i], 19 * MS / 2, 3 * 19 * MS / 2);
    }
    assert_true(ttft[0] == ttft[1] && decode[0] == decode[1]);
    assert_true(ttft[0] != ttft[2] && decode[0] != decode[2]);
}

static void sends_the_role_early_if_configured(void **state)
{
    SERVER_AUTO server =
        simserve_start((const char *[]){ "--ttft-ms", "700", "--role-early", NULL });
    struct answer reading = { 0 };
    TEXT_AUTO raw = { 0 };
    int64_t role_ns;
    int fd = simserve_connect(&server);
    json_auto_t *record = NULL;

    (void)state;
    simserve_send(fd, "POST", "/v1/chat/completions", "X-Request-Id: r\r\n",
                  "{\"messages\":[{\"role\":\"user\",\"content\":\"a\"}],\"max_tokens\":1,"
                  "\"stream\":true}");
    do
        assert_true(simserve_read(fd, &raw, &reading));
    while (strstr(text_string(&raw), "assistant") == NULL);
    role_ns = simserve_now_ns();
    record = simserve_truth(&server, "r");
    assert_true(role_ns < number(record, "planned_first_ns"));
    close(fd);
}

static void adds_the_finish_reason_to_the_last_content_chunk_if_configured(void **state)
{
    SERVER_AUTO server =
        simserve_start((const char *[]){ "--ttft-ms", "0", "--finish-joined", NULL });
    ANSWER_AUTO answer = { 0 };

    (void)state;
    simserve_call(&server, "POST", "/v1/completions", "",
                  "{\"prompt\":\"a\",\"max_tokens\":1,\"stream\":true}", &answer);
    json_auto_t *events = simserve_events(&answer.body);
    assert_int_equal(json_array_size(events), 2); /* content with finish_reason, [DONE] */
}

static void reports_its_records_in_pages_and_forgets_them_on_reset(void **state)
{
    SERVER_AUTO server = simserve_start(
        (const char *[]){ "--ttft-ms", "0", "--step-ms", "1", "--truth-chunks", NULL });
    json_auto_t *first = run(&server, "1", 4, 0, 3), *second = run(&server, "2", 4, 0, 3);
    ANSWER_AUTO page = { 0 };
    ANSWER_AUTO rest = { 0 };
    ANSWER_AUTO none = { 0 };

    (void)state;
    assert_int_equal(number(first, "sequence"), 1);
    assert_int_equal(json_array_size(json_object_get(second, "chunk_us")), 3);
    assert_true(number(second, "gap_max_us") >= number(second, "gap_p50_us"));
    simserve_call(&server, "GET", "/sim/truth?since=0&limit=1", "", "", &page);
    simserve_call(&server, "GET", "/sim/truth?since=1", "", "", &rest);
    assert_non_null(strstr(page.body.data, "{\"sequence\":1,"));
    assert_null(strstr(page.body.data, "{\"sequence\":2,"));
    assert_non_null(strstr(rest.body.data, "{\"sequence\":2,"));
    assert_null(strstr(rest.body.data, "{\"sequence\":1,"));
    json_decref(simserve_json(&server, "POST", "/sim/reset", "", 200));
    simserve_call(&server, "GET", "/sim/truth", "", "", &none);
    assert_int_equal(none.body.length, 0);
}

static void remembers_a_bounded_number_of_requests(void **state)
{
    SERVER_AUTO server = simserve_start((const char *[]){ "--ttft-ms", "0", "--truth-requests", "4",
                                                          "--truth-chunks-mib", "0", NULL });
    json_auto_t *last = NULL;
    ANSWER_AUTO all = { 0 };

    (void)state;
    for (int i = 0; i < 10; i++) {
        char id[24];

        snprintf(id, sizeof id, "%d", i);
        json_decref(run(&server, id, 4, 0, 2));
    }
    simserve_call(&server, "GET", "/sim/truth", "", "", &all);
    assert_null(strstr(all.body.data, "{\"sequence\":6,"));
    assert_non_null(strstr(all.body.data, "{\"sequence\":7,"));
    assert_non_null(strstr(all.body.data, "{\"sequence\":10,"));
    assert_null(strstr(all.body.data, "gap_p50_us"));
}

static void summarizes_a_window(void **state)
{
    SERVER_AUTO server =
        simserve_start((const char *[]){ "--ttft-ms", "4", "--step-ms", "2", NULL });
    json_auto_t *first = run(&server, "1", 4, 0, 6), *second = run(&server, "2", 40, 0, 6);
    char path[128];
    json_auto_t *all, *one, *lag;
    int64_t from_ns = number(second, "read_ns"), to_ns = number(second, "end_ns");
    double ttft_ms = (double)(number(second, "first_write_ns") - from_ns) / 1e6;

    (void)state;
    snprintf(path, sizeof path, "/sim/summary?from_ns=%lld&to_ns=%lld", (long long)from_ns,
             (long long)to_ns);
    all = simserve_json(&server, "GET", "/sim/summary", "", 200);
    one = simserve_json(&server, "GET", path, "", 200);
    lag = simserve_json(&server, "GET", "/sim/lag", "", 200);
    assert_int_equal(number(first, "chunks"), 6);
    assert_int_equal(number(all, "requests"), 2);
    assert_int_equal(number(all, "output_tokens"), 12);
    assert_int_equal(number(all, "prompt_tokens"), 44);
    assert_int_equal(number(json_object_get(all, "itl_ms"), "count"), 10);
    assert_int_equal(number(one, "requests"), 1);
    assert_int_equal(number(one, "chunks_in_window"), 6);
    assert_float_equal(json_get_number(json_object_get(one, "ttft_ms"), "p50", 0), ttft_ms, 1e-5);
    assert_float_equal(json_get_number(one, "present_average", 0), 1, 1e-9);
    assert_true(json_get_number(json_object_get(one, "itl_ms"), "max", 0)
                > 1); /* gaps of 2 ms are planned; the gap after a late chunk is shorter */
    assert_int_equal(number(lag, "count"), 12);
}

static void counts_requests_and_tokens_in_metrics_named_as_in_vllm(void **state)
{
    SERVER_AUTO server =
        simserve_start((const char *[]){ "--ttft-ms", "2", "--step-ms", "1", NULL });

    (void)state;
    json_decref(run(&server, "1", 20, 0, 6));
    json_decref(run(&server, "2", 20, 500, 6));
    assert_true(simserve_metric(&server, "vllm:prompt_tokens_total" LABELS) == 40);
    assert_true(simserve_metric(&server, "vllm:generation_tokens_total" LABELS) == 12);
    assert_true(simserve_metric(&server, "vllm:time_to_first_token_seconds_count" LABELS) == 2);
    assert_true(simserve_metric(&server, "vllm:inter_token_latency_seconds_count" LABELS) == 10);
    assert_true(simserve_metric(&server, "vllm:e2e_request_latency_seconds_count" LABELS) == 2);
    assert_true(simserve_metric(&server, "vllm:time_to_first_token_seconds_bucket{engine=\"0\","
                                         "model_name=\"simserve/toy\",le=\"0.001\"}")
                == 0);
    assert_true(simserve_metric(
                    &server, "vllm:request_success_total{engine=\"0\",model_name=\"simserve/toy\","
                             "finished_reason=\"length\"}")
                == 2);
    assert_true(simserve_metric(&server, "vllm:num_preemptions_total" LABELS) == 0);
}

static void blast_writes_every_stream_to_its_end(void **state)
{
    SERVER_AUTO server = simserve_start((const char *[]){ "--blast", NULL });
    int fds[20];

    (void)state;
    for (int i = 0; i < 20; i++)
        fds[i] = begin(&server, "x", 4, 0, 5000); /* more than the socket buffers hold */
    for (int i = 0; i < 20; i++)
        end(fds[i]);
    assert_true(simserve_metric(&server, "vllm:generation_tokens_total" LABELS) == 100000);
}

static void writes_its_pid_and_ends_on_sigterm_even_while_a_stream_is_open(void **state)
{
    char pid_file[] = "/tmp/simserve-XXXXXX", written[32] = { 0 };
    int pid_fd = mkstemp(pid_file);
    struct simserve server = simserve_start((const char *[]){ "--pid-file", pid_file, NULL });
    int fd = begin(&server, "x", 4, 0, 1000);
    pid_t pid = server.pid;

    (void)state;
    simserve_wait_metric(&server, "vllm:num_requests_running" LABELS, 1);
    assert_true(read(pid_fd, written, sizeof written - 1) > 0);
    assert_int_equal(strtol(written, NULL, 10), pid);
    assert_int_equal(simserve_stop(&server), 0);
    close(fd);
    close(pid_fd);
    unlink(pid_file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plans_first_token_and_steps_exactly),
        cmocka_unit_test(prefill_takes_time_for_each_token_that_is_not_cached),
        cmocka_unit_test(forgets_cached_prefixes_on_reset_and_when_the_cache_is_switched_off),
        cmocka_unit_test(runs_prefills_one_after_the_other_if_serial),
        cmocka_unit_test(slows_down_with_each_running_sequence),
        cmocka_unit_test(requests_beyond_max_running_wait_in_order_of_arrival),
        cmocka_unit_test(reports_running_and_waiting_requests_and_refuses_one_too_many),
        cmocka_unit_test(queues_a_request_that_does_not_fit_into_the_kv_cache),
        cmocka_unit_test(notices_a_client_that_leaves),
        cmocka_unit_test(only_the_first_prompt_of_a_size_class_takes_cold_shape_ms_longer),
        cmocka_unit_test(puts_several_tokens_in_a_chunk),
        cmocka_unit_test(varies_tokens_per_chunk_around_their_mean),
        cmocka_unit_test(repeats_its_jitter_with_the_same_seed),
        cmocka_unit_test(sends_the_role_early_if_configured),
        cmocka_unit_test(adds_the_finish_reason_to_the_last_content_chunk_if_configured),
        cmocka_unit_test(reports_its_records_in_pages_and_forgets_them_on_reset),
        cmocka_unit_test(remembers_a_bounded_number_of_requests),
        cmocka_unit_test(summarizes_a_window),
        cmocka_unit_test(counts_requests_and_tokens_in_metrics_named_as_in_vllm),
        cmocka_unit_test(blast_writes_every_stream_to_its_end),
        cmocka_unit_test(writes_its_pid_and_ends_on_sigterm_even_while_a_stream_is_open),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
