/* SPDX-License-Identifier: Apache-2.0 */
/* Sends requests to simserve, with each of its faults, through libcurl and through our own HTTP/1.1
 * client. Both clients must report the same class of failure, the same counts and, except for
 * broken connections and timeouts, messages that begin alike. Other tests show that no stored text
 * contains the secret, and that only servers in the setting allowed_servers are resolved. */
#include "bench/load/virtual_user.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/core/clock.h"
#include "base/core/random.h"
#include "base/net/outbound.h"
#include "tests/simserve/faults.c" // NOLINT: the names of all faults
#include "tests/simserve/harness/process.h"
#include "tests/unit/support/canned_server.h"

#define OUTPUT_TOKENS 8
#define SHORT_NS 300000000L  /* timeout for requests whose answers stall */
#define LONG_NS 20000000000L /* timeout for all other requests */

/* One simulated user of a model server, with everything it needs. */
struct trial {
    struct endpoint endpoint;
    struct workload workload;
    struct prompt_source *prompts;
    struct target_address target;
    struct connection_reuse reuse;
    struct load load;
    struct load_loop loop;
    struct tally tally;
    struct virtual_user user;
};

static void note_late(void *context, int64_t late_ns)
{
    (void)context, (void)late_ns;
}

static void make_workload(struct workload *out, enum bench_api api)
{
    *out = (struct workload){ .api = api,
                              .form = PROMPT_WORDS,
                              .tokens_per_piece = 1,
                              .fields = FIELD_MAX_TOKENS | FIELD_STREAM_USAGE | FIELD_IGNORE_EOS,
                              .reports_usage = true,
                              .piece_count = 64 };
    for (int i = 0; i < 64; i++)
        snprintf(out->pieces[i], WORKLOAD_PIECE_SIZE, "w%d", i % 100);
}

static void set_up(struct trial *trial, const struct simserve *server, enum bench_api api,
                   bool by_libcurl, int64_t timeout_ns)
{
    static const struct plan plan = { .seed = 1 };
    struct prompt_source_order order = { .workload = &trial->workload,
                                         .plan = &plan,
                                         .model = "simserve/toy",
                                         .input_tokens = 16,
                                         .output_tokens = OUTPUT_TOKENS };
    struct error error;

    *trial = (struct trial){ 0 };
    snprintf(trial->endpoint.url, sizeof trial->endpoint.url, "http://127.0.0.1:%d", server->port);
    make_workload(&trial->workload, api);
    assert_true(target_address_resolve(&trial->endpoint, &trial->target, &error));
    random_bytes(&order.nonce, sizeof order.nonce);
    assert_true(prompt_source_create(&order, &trial->prompts, &error));
    trial->load = (struct load){ .endpoint = &trial->endpoint,
                                 .prompts = trial->prompts,
                                 .workload = &trial->workload,
                                 .output_tokens = OUTPUT_TOKENS,
                                 .ttft_timeout_ns = timeout_ns,
                                 .idle_timeout_ns = timeout_ns,
                                 .request_timeout_ns = 10 * timeout_ns,
                                 .target = &trial->target,
                                 .reuse = &trial->reuse,
                                 .only_libcurl = by_libcurl,
                                 .window_end_ns = INT64_MAX };
    random_bytes(&trial->load.nonce, sizeof trial->load.nonce);
    tally_init(&trial->tally, &trial->load);
    assert_true(load_loop_init(&trial->loop, 1, note_late, trial, &error));
    assert_true(
        virtual_user_init(&trial->user, &trial->load, &trial->tally, &trial->loop, NULL, &error));
}

static void tear_down(struct trial *trial)
{
    virtual_user_finish(&trial->user);
    load_credential_finish(&trial->load);
    load_loop_finish(&trial->loop);
    tally_finish(&trial->tally);
    prompt_source_destroy(trial->prompts);
    target_address_finish(&trial->target);
}

/* Does what a load thread (shard) does for one request, until it ends or reaches a timeout. Returns
 * the timeout that was reached; FAILURE_NONE: the request ended. */
static enum failure wait_for_end(struct trial *trial)
{
    enum failure which;

    while (transfer_take_ended(&trial->loop) == NULL) {
        int64_t due_ns = virtual_user_deadline_ns(&trial->user, &which);

        if (due_ns <= clock_monotonic_ns())
            return which;
        load_loop_turn(&trial->loop, due_ns);
    }
    return FAILURE_NONE;
}

static void perform_request(struct trial *trial, uint64_t index)
{
    enum failure cut;

    virtual_user_begin(&trial->user, index, false, clock_monotonic_ns());
    do {
        cut = wait_for_end(trial);
        transfer_end(trial->user.transfer);
    } while (cut == FAILURE_NONE && virtual_user_retry(&trial->user));
    virtual_user_end(&trial->user, cut);
}

/* Appends the outcome of a request. Omits the times, and whatever depends on chance (such as
 * whether the server closed the connection). Also omits the messages for broken connections and
 * timeouts, because the two clients word them differently. */
static void describe(const struct request *request, struct text *out)
{
    text_addf(
        out,
        "%s, status %ld: %ld chunks, %ld completion tokens, %ld prompt tokens (%ld cached)%s%s%s, "
        "finish '%s'",
        failure_name(request->failure), request->status, request->chunks,
        request->completion_tokens, request->prompt_tokens, request->cached_tokens,
        request->is_stream ? ", a stream" : "", request->done ? ", done" : "",
        request->reasoned ? ", reasoned" : "", request->finish_reason);
    if (request->failure != FAILURE_RESET && request->failure != FAILURE_TTFT_TIMEOUT
        && request->failure != FAILURE_IDLE_TIMEOUT)
        text_addf(out, ": %.14s", request->failure_text); /* the rest may contain ids */
}

/* Sends two requests, one after the other, so that the connection is reused if possible. Appends
 * their outcomes. */
static void run(const struct simserve *server, enum bench_api api, bool by_libcurl,
                int64_t timeout_ns, struct text *out)
{
    struct trial trial;

    set_up(&trial, server, api, by_libcurl, timeout_ns);
    for (uint64_t i = 0; i < 2; i++) {
        const struct request *done = &trial.user.request;

        perform_request(&trial, i);
        describe(done, out);
        text_add_char(out, '\n');
        if (done->failure == FAILURE_NONE)
            assert_true(done->due_ns <= done->sent_ns && done->sent_ns < done->first_ns
                        && done->first_ns <= done->end_ns && done->latest_ns <= done->end_ns);
    }
    tear_down(&trial);
}

static void check_fault(const char *fault, enum bench_api api)
{
    struct simserve server = simserve_start(
        (const char *[]){ "--ttft-ms", "2", "--step-ms", "1", "--slow-headers-ms", "20",
                          "--cached-tokens-in-usage", "true", "--fault", fault, NULL });
    int64_t timeout_ns = strncmp(fault, "stall", 5) == 0 ? SHORT_NS : LONG_NS;
    TEXT_AUTO by_libcurl = { 0 };
    TEXT_AUTO ours = { 0 };

    run(&server, api, true, timeout_ns, &by_libcurl);
    run(&server, api, false, timeout_ns, &ours);
    if (strcmp(by_libcurl.data, ours.data) != 0)
        fail_msg("%s\nlibcurl:\n%sour client:\n%s", fault, by_libcurl.data, ours.data);
    assert_non_null(strchr(ours.data, '\n'));
    simserve_stop(&server);
}

static void both_clients_report_every_fault_alike(void **state)
{
    (void)state;
    for (int fault = 0; fault < FAULT_COUNT; fault++) {
        char flag[64];

        snprintf(flag, sizeof flag, "%s=1", fault_kind((enum fault)fault)->name);
        check_fault(flag, fault % 2 == 0 ? BENCH_CHAT : BENCH_COMPLETIONS);
    }
}

/* ---- A server that repeats the secret that it received --------------------------------------- */

#define SECRET "Lab-7f3Kq9ZxT0vW2mR8uYc41"

static void check_echo(const struct canned_answer *answer, bool by_libcurl, const char *expected)
{
    const struct canned_answer answers[] = { *answer, { 0 } };
    struct canned_server server;
    struct trial trial;

    canned_start(&server, answers);
    set_up(&trial, &(struct simserve){ .port = server.port }, BENCH_COMPLETIONS, by_libcurl,
           LONG_NS);
    load_credential_set(&trial.load, SECRET);
    perform_request(&trial, 0);
    canned_stop(&server);
    assert_int_not_equal(trial.user.request.failure, FAILURE_NONE);
    if (strstr(trial.user.request.failure_text, expected) == NULL
        || strstr(trial.user.request.failure_text, "3Kq9") != NULL)
        fail_msg("\"%s\" does not contain \"%s\", or it contains the secret",
                 trial.user.request.failure_text, expected);
    assert_null(strstr(trial.user.request.finish_reason, "3Kq9"));
    tear_down(&trial);
}

static void no_stored_text_contains_the_secret(void **state)
{
#define AT .path = "/v1/completions"
#define STREAM AT, .type = "text/event-stream"
    static const struct {
        struct canned_answer answer;
        const char *expected;
    } echoes[] = {
        { { AT, .status = 401,
            .body = "{\"error\":{\"message\":\"no \\u004cab-7f3Kq9ZxT0vW2mR8uYc41\"}}" },
          "no (hidden)" },
        { { AT, .status = 500, .type = "text/plain", .body = "no ab-7f3Kq9ZxT0vW2mR8uYc4 here" },
          "no (hidden) here" },
        { { STREAM, .body = "data: {\"error\":{\"message\":\"bad " SECRET "\"}}\n\n" },
          "bad (hidden)" },
        { { STREAM, .body = "data: {\"choices\":[{\"text\":\"a\",\"finish_reason\":\"error " SECRET
                            "\"}]}\n\ndata: [DONE]\n\n" },
          "" },
        { { AT, .body = "{\"" SECRET "\": true" }, "(hidden)" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof echoes / sizeof *echoes; i++) {
        check_echo(&echoes[i].answer, true, echoes[i].expected);
        check_echo(&echoes[i].answer, false, echoes[i].expected);
    }
}

static void resolves_only_servers_in_allowed_servers(void **state)
{
    struct endpoint endpoint = { .url = "http://127.0.0.1:9" };
    struct server_list *list;
    struct target_address target;
    struct error error;

    (void)state;
    assert_true(server_list_create("10.0.0.0/8", &list, &error));
    endpoint.servers = list;
    assert_false(target_address_resolve(&endpoint, &target, &error));
    assert_non_null(strstr(error.message, "the setting allowed_servers does not name"));
    server_list_destroy(list);
    assert_true(server_list_create("10.0.0.0/8, 127.0.0.1", &list, &error));
    endpoint.servers = list;
    assert_true(target_address_resolve(&endpoint, &target, &error));
    target_address_finish(&target);
    server_list_destroy(list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_clients_report_every_fault_alike),
        cmocka_unit_test(no_stored_text_contains_the_secret),
        cmocka_unit_test(resolves_only_servers_in_allowed_servers),
    };
    struct error error;

    if (!outbound_global_init(&error))
        return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    outbound_global_finish();
    return failed;
}
