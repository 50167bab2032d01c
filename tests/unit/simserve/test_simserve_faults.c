/* SPDX-License-Identifier: Apache-2.0 */
/* Every fault of simserve, requested with a header and observed by a client. Also shows that faults
 * can be combined, that they can strike every nth request or at random, and that the server closes
 * a connection after a set number of requests or when it is idle. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/simserve/harness/simserve.h"

#define TOKENS 8
#define STREAM_BODY                                                                                \
    "{\"messages\":[{\"role\":\"user\",\"content\":\"one two three four\"}],\"max_tokens\":8,"     \
    "\"ignore_eos\":true,\"stream\":true,\"stream_options\":{\"include_usage\":true}}"

/* The answer to one request for a stream, as a client received it, and the server's record of the
 * request. */
struct exchange {
    struct simserve *server;
    struct answer answer;
    json_t *events;
    json_t *truth;
};

static int start(void **state)
{
    static struct simserve server;

    server = simserve_start((const char *[]){ "--ttft-ms", "5", "--step-ms", "2", "--stall-ms",
                                              "60", "--slow-headers-ms", "60", "--split-pause-ms",
                                              "1", NULL });
    *state = &server;
    return 0;
}

static int stop(void **state)
{
    return simserve_stop(*state);
}

static void exchange_run(struct exchange *exchange, const char *faults)
{
    static int number;
    TEXT_AUTO headers = { 0 };
    char id[32];

    snprintf(id, sizeof id, "fault-%d", number++);
    text_addf(&headers, "X-Request-Id: %s\r\nX-Sim-Fault: %s\r\n", id, faults);
    simserve_call(exchange->server, "POST", "/v1/chat/completions", headers.data, STREAM_BODY,
                  &exchange->answer);
    exchange->truth = simserve_truth(exchange->server, id);
    if (exchange->answer.status == 200)
        exchange->events = simserve_events(&exchange->answer.body);
}

static void exchange_finish(struct exchange *exchange)
{
    answer_finish(&exchange->answer);
    json_decref(exchange->events);
    json_decref(exchange->truth);
}

static const json_t *choice_of(const json_t *event)
{
    return json_array_get(json_object_get(event, "choices"), 0);
}

static const char *delta_text(const json_t *event, const char *field)
{
    return json_get_text(json_object_get(choice_of(event), "delta"), field, "");
}

/* Counts the events whose delta has a non-empty `field`. */
static size_t count_deltas(const struct exchange *exchange, const char *field)
{
    size_t i, count = 0;
    json_t *event;

    json_array_foreach(exchange->events, i, event) {
        count += delta_text(event, field)[0] != '\0';
    }
    return count;
}

static size_t count_usages(const struct exchange *exchange)
{
    size_t i, count = 0;
    json_t *event;

    json_array_foreach(exchange->events, i, event) {
        count += json_object_get(event, "usage") != NULL;
    }
    return count;
}

/* Returns the value of a member of `usage` in the last event that has this member, or -1 if no
 * event has it. */
static int64_t usage_of(const struct exchange *exchange, const char *member)
{
    size_t i;
    json_t *event;
    int64_t value = -1;

    json_array_foreach(exchange->events, i, event) {
        value = json_get_integer(json_object_get(event, "usage"), member, value);
    }
    return value;
}

static const char *finish_reason(const struct exchange *exchange)
{
    size_t i;
    json_t *event;
    const char *reason = "";

    json_array_foreach(exchange->events, i, event) {
        reason = json_get_text(choice_of(event), "finish_reason", reason);
    }
    return reason;
}

static bool is_done(const struct exchange *exchange)
{
    const json_t *last = json_array_get(exchange->events, json_array_size(exchange->events) - 1);

    return json_is_string(last);
}

static int64_t number(const struct exchange *exchange, const char *name)
{
    return json_get_integer(exchange->truth, name, -1);
}

static const char *outcome(const struct exchange *exchange)
{
    return json_get_text(exchange->truth, "outcome", "");
}

/* Checks that the stream is complete and its content correct. */
static void check_good(const struct exchange *exchange)
{
    assert_int_equal(exchange->answer.status, 200);
    assert_true(exchange->answer.complete);
    assert_int_equal(count_deltas(exchange, "content"), TOKENS);
    assert_int_equal(usage_of(exchange, "completion_tokens"), TOKENS);
    assert_int_equal(usage_of(exchange, "prompt_tokens"), 14);
    assert_string_equal(finish_reason(exchange), "length");
    assert_true(is_done(exchange));
    assert_string_equal(outcome(exchange), "ok");
    assert_int_equal(number(exchange, "chunks"), TOKENS);
}

static void check_refusal(const struct exchange *exchange, int status, const char *words)
{
    assert_int_equal(exchange->answer.status, status);
    assert_non_null(strstr(exchange->answer.body.data, words));
    assert_string_equal(outcome(exchange), "refused");
    assert_int_equal(number(exchange, "status"), status);
}

static void check_unauthorized(const struct exchange *exchange)
{
    check_refusal(exchange, 401, "Unauthorized");
}

static void check_too_long(const struct exchange *exchange)
{
    check_refusal(exchange, 400, "maximum context length is 32768 tokens. However, you requested");
}

static void check_rate_limited(const struct exchange *exchange)
{
    check_refusal(exchange, 429, "RateLimitError");
    assert_non_null(strstr(exchange->answer.head.data, "retry-after: 1\r\n"));
}

static void check_internal(const struct exchange *exchange)
{
    check_refusal(exchange, 500, "InternalServerError");
}

static void check_unavailable(const struct exchange *exchange)
{
    check_refusal(exchange, 503, "overloaded");
    assert_non_null(strstr(exchange->answer.head.data, "retry-after: 1\r\n"));
}

static void check_reset_before_headers(const struct exchange *exchange)
{
    assert_int_equal(exchange->answer.status, 0);
    assert_true(exchange->answer.reset);
    assert_string_equal(outcome(exchange), "reset");
}

static void check_slow_headers(const struct exchange *exchange)
{
    int64_t read_ns = number(exchange, "read_ns");

    check_good(exchange);
    assert_true(number(exchange, "admitted_ns") - read_ns >= 60000000);
}

static void check_close_after_answer(const struct exchange *exchange)
{
    check_good(exchange);
    assert_null(strcasestr(exchange->answer.head.data, "connection:"));
}

static void check_stall_before_first(const struct exchange *exchange)
{
    check_good(exchange);
    assert_int_equal(number(exchange, "planned_first_ns") - number(exchange, "read_ns"), 65000000);
}

static void check_stall_mid_stream(const struct exchange *exchange)
{
    check_good(exchange);
    assert_int_equal(number(exchange, "planned_last_ns") - number(exchange, "planned_first_ns"),
                     60000000 + (TOKENS - 1) * 2000000);
}

static void check_reset_mid_stream(const struct exchange *exchange)
{
    assert_int_equal(count_deltas(exchange, "content"), 3);
    assert_true(exchange->answer.reset);
    assert_false(exchange->answer.complete);
    assert_string_equal(outcome(exchange), "reset");
    assert_int_equal(number(exchange, "chunks"), 3);
}

static void check_error_event(const struct exchange *exchange)
{
    const json_t *error = json_object_get(json_array_get(exchange->events, 4), "error");

    assert_int_equal(json_get_integer(error, "code", 0), 500);
    assert_int_equal(count_deltas(exchange, "content"), 3);
    assert_string_equal(finish_reason(exchange), "");
    assert_true(is_done(exchange));
    assert_true(exchange->answer.complete);
    assert_string_equal(outcome(exchange), "stream_error");
}

static void check_truncated(const struct exchange *exchange)
{
    assert_true(exchange->answer.complete);
    assert_int_equal(count_deltas(exchange, "content"), 3);
    assert_string_equal(finish_reason(exchange), "");
    assert_int_equal(count_usages(exchange), 0);
    assert_false(is_done(exchange));
    assert_string_equal(outcome(exchange), "truncated");
}

static void check_missing_done(const struct exchange *exchange)
{
    assert_true(exchange->answer.complete);
    assert_string_equal(finish_reason(exchange), "length");
    assert_int_equal(count_usages(exchange), 1);
    assert_false(is_done(exchange));
}

static void check_short_output(const struct exchange *exchange)
{
    assert_int_equal(count_deltas(exchange, "content"), TOKENS / 2);
    assert_int_equal(usage_of(exchange, "completion_tokens"), TOKENS / 2);
    assert_string_equal(finish_reason(exchange), "stop");
}

static void check_prompt_truncated(const struct exchange *exchange)
{
    assert_int_equal(usage_of(exchange, "prompt_tokens"), 7);
    assert_int_equal(number(exchange, "prompt_tokens"), 7);
}

static void check_not_sse(const struct exchange *exchange)
{
    json_t *body = NULL;
    struct error error;

    assert_non_null(strstr(exchange->answer.head.data, "content-type: application/json"));
    assert_true(
        json_parse(exchange->answer.body.data, exchange->answer.body.length, &body, &error));
    assert_non_null(json_object_get(choice_of(body), "message"));
    json_decref(body);
}

static void check_missing_usage(const struct exchange *exchange)
{
    assert_int_equal(count_usages(exchange), 0);
    assert_true(is_done(exchange));
}

static void check_usage_in_last_content(const struct exchange *exchange)
{
    const json_t *last = json_array_get(exchange->events, TOKENS);

    check_good(exchange);
    assert_int_equal(count_usages(exchange), 1);
    assert_true(delta_text(last, "content")[0] != '\0');
    assert_non_null(json_object_get(last, "usage"));
}

static void check_usage_in_every_chunk(const struct exchange *exchange)
{
    check_good(exchange);
    assert_int_equal(count_usages(exchange), json_array_size(exchange->events) - 1);
}

static void check_wrong_finish_reason(const struct exchange *exchange)
{
    assert_string_equal(finish_reason(exchange), "stop");
    assert_int_equal(usage_of(exchange, "completion_tokens"), TOKENS);
}

static void check_usage_null(const struct exchange *exchange)
{
    check_good(exchange);
    assert_true(json_is_null(json_object_get(json_array_get(exchange->events, 0), "usage")));
}

static void check_usage_as_timings(const struct exchange *exchange)
{
    const json_t *last =
        json_array_get(exchange->events, json_array_size(exchange->events) - 2); /* before [DONE] */
    const json_t *timings = json_object_get(last, "timings");

    assert_int_equal(count_usages(exchange), 0);
    assert_int_equal(json_get_integer(timings, "predicted_n", 0), TOKENS);
    assert_int_equal(
        json_get_integer(timings, "prompt_n", 0) + json_get_integer(timings, "cache_n", 0), 14);
}

static void check_aborted(const struct exchange *exchange)
{
    assert_string_equal(finish_reason(exchange), "abort");
    assert_int_equal(usage_of(exchange, "completion_tokens"), TOKENS / 2);
}

static void check_missing_finish(const struct exchange *exchange)
{
    assert_string_equal(finish_reason(exchange), "");
    assert_int_equal(usage_of(exchange, "completion_tokens"), TOKENS);
    assert_true(is_done(exchange));
}

static void check_tool_call(const struct exchange *exchange)
{
    const json_t *call = json_array_get(
        json_object_get(json_object_get(choice_of(json_array_get(exchange->events, 1)), "delta"),
                        "tool_calls"),
        0);

    assert_int_equal(count_deltas(exchange, "content"), 0);
    assert_true(json_get_text(json_object_get(call, "function"), "arguments", "")[0] != '\0');
    assert_string_equal(finish_reason(exchange), "length");
}

static void check_no_role_chunk(const struct exchange *exchange)
{
    check_good(exchange);
    assert_int_equal(count_deltas(exchange, "role"), 0);
    assert_true(delta_text(json_array_get(exchange->events, 0), "content")[0] != '\0');
}

static void check_reasoning_first(const struct exchange *exchange)
{
    assert_int_equal(count_deltas(exchange, "reasoning_content"), 3);
    assert_int_equal(count_deltas(exchange, "content"), TOKENS - 3);
    assert_true(delta_text(json_array_get(exchange->events, 1), "reasoning_content")[0] != '\0');
    assert_int_equal(usage_of(exchange, "completion_tokens"), TOKENS);
}

static void check_comment_lines(const struct exchange *exchange)
{
    check_good(exchange);
    assert_non_null(strstr(exchange->answer.body.data, "\n\n: ping\n\ndata: {"));
}

static void check_crlf_lines(const struct exchange *exchange)
{
    const char *body = exchange->answer.body.data;

    check_good(exchange);
    for (const char *end = strchr(body, '\n'); end; end = strchr(end + 1, '\n'))
        assert_true(end[-1] == '\r');
}

static void check_no_space_after_data(const struct exchange *exchange)
{
    check_good(exchange);
    assert_null(strstr(exchange->answer.body.data, "data: "));
    assert_non_null(strstr(exchange->answer.body.data, "data:[DONE]"));
}

/* A content chunk's planned time is when its second part is to be written, after the pause. */
static void check_split_events(const struct exchange *exchange)
{
    check_good(exchange);
    assert_int_equal(number(exchange, "planned_first_ns") - number(exchange, "read_ns"), 6000000);
    assert_true(exchange->answer.reads > 2);
}

static void check_joined_events(const struct exchange *exchange)
{
    check_good(exchange);
    assert_int_equal(json_array_size(exchange->events), 12);
    assert_true(exchange->answer.reads
                <= 1 + 12 / 4 + 1); /* the head, 3 writes of 4 events each, the end */
}

static const struct fault_case {
    const char *name;
    void (*check)(const struct exchange *exchange);
} cases[] = {
    { "unauthorized", check_unauthorized },
    { "too_long", check_too_long },
    { "rate_limited", check_rate_limited },
    { "internal", check_internal },
    { "unavailable", check_unavailable },
    { "reset_before_headers", check_reset_before_headers },
    { "slow_headers", check_slow_headers },
    { "close_after_answer", check_close_after_answer },
    { "stall_before_first", check_stall_before_first },
    { "stall_mid_stream", check_stall_mid_stream },
    { "reset_mid_stream", check_reset_mid_stream },
    { "error_event", check_error_event },
    { "truncated", check_truncated },
    { "missing_done", check_missing_done },
    { "short_output", check_short_output },
    { "prompt_truncated", check_prompt_truncated },
    { "not_sse", check_not_sse },
    { "missing_usage", check_missing_usage },
    { "usage_in_last_content", check_usage_in_last_content },
    { "usage_in_every_chunk", check_usage_in_every_chunk },
    { "wrong_finish_reason", check_wrong_finish_reason },
    { "usage_null", check_usage_null },
    { "usage_as_timings", check_usage_as_timings },
    { "aborted", check_aborted },
    { "missing_finish", check_missing_finish },
    { "tool_call", check_tool_call },
    { "no_role_chunk", check_no_role_chunk },
    { "reasoning_first", check_reasoning_first },
    { "comment_lines", check_comment_lines },
    { "crlf_lines", check_crlf_lines },
    { "no_space_after_data", check_no_space_after_data },
    { "split_events", check_split_events },
    { "joined_events", check_joined_events },
};

#define CASES (sizeof cases / sizeof cases[0])

static void each_requested_fault_has_its_effect(void **state)
{
    for (size_t i = 0; i < CASES; i++) {
        struct exchange exchange = { .server = *state };

        exchange_run(&exchange, cases[i].name);
        print_message("%s\n", cases[i].name);
        assert_string_equal(
            json_string_value(json_array_get(json_object_get(exchange.truth, "faults"), 0)),
            cases[i].name);
        cases[i].check(&exchange);
        exchange_finish(&exchange);
    }
}

/* Reads the names listed under "Faults:" in the output of --help. */
static void there_is_a_case_for_every_fault_that_help_lists(void **state)
{
    FILE *help = popen(SIMSERVE " --help", "r");
    char line[256], name[64];
    bool in_faults = false;
    size_t count = 0;

    (void)state;
    while (fgets(line, sizeof line, help)) {
        bool known = false;

        if (!in_faults || sscanf(line, " %63s", name) != 1) {
            in_faults = in_faults || strcmp(line, "Faults:\n") == 0;
            continue;
        }
        for (size_t i = 0; i < CASES; i++)
            known = known || strcmp(cases[i].name, name) == 0;
        if (!known)
            fail_msg("there is no case for the fault %s", name);
        count++;
    }
    pclose(help);
    assert_int_equal(count, CASES);
}

static void streams_correctly_without_a_fault(void **state)
{
    struct exchange exchange = { .server = *state };

    exchange_run(&exchange, "");
    check_good(&exchange);
    exchange_finish(&exchange);
}

static void combines_faults(void **state)
{
    struct exchange exchange = { .server = *state };

    exchange_run(&exchange, "crlf_lines,comment_lines, no_space_after_data,split_events");
    check_good(&exchange);
    check_crlf_lines(&exchange);
    check_no_space_after_data(&exchange);
    assert_int_equal(json_array_size(json_object_get(exchange.truth, "faults")), 4);
    exchange_finish(&exchange);
}

static void refuses_an_unknown_fault(void **state)
{
    struct exchange exchange = { .server = *state };

    exchange_run(&exchange, "gremlins");
    check_refusal(&exchange, 400, "no fault named \\\"gremlins\\\"");
    exchange_finish(&exchange);
}

static void closes_the_connection_after_the_answer_if_requested(void **state)
{
    ANSWER_AUTO answer = { 0 };
    char byte;
    int fd = simserve_connect(*state);

    simserve_send(fd, "POST", "/v1/chat/completions", "X-Sim-Fault: close_after_answer\r\n",
                  STREAM_BODY);
    simserve_receive(fd, &answer);
    assert_true(answer.complete);
    assert_int_equal(recv(fd, &byte, 1, 0), 0);
    close(fd);
}

/* Starts a server and sends it `count` requests. Writes the first digit of each status ('2' or '5')
 * to `out`. */
static void statuses(const char *const *flags, char *out, int count)
{
    struct simserve server = simserve_start(flags);

    for (int i = 0; i < count; i++) {
        ANSWER_AUTO answer = { 0 };

        simserve_call(&server, "POST", "/v1/completions", "", "{\"prompt\":\"a\",\"max_tokens\":1}",
                      &answer);
        out[i] = (char)('0' + answer.status / 100);
    }
    out[count] = '\0';
    assert_int_equal(simserve_stop(&server), 0);
}

static void a_fault_can_strike_every_nth_request(void **state)
{
    char got[10];

    (void)state;
    statuses((const char *[]){ "--ttft-ms", "0", "--fault", "internal/3", NULL }, got, 9);
    assert_string_equal(got, "225225225");
}

static void a_fault_can_strike_at_random_but_reproducibly(void **state)
{
    const char *flags[] = { "--ttft-ms", "0", "--fault", "internal=0.3", "--seed", "7", NULL };
    char first[201], again[201], other[201];
    int strikes = 0;

    (void)state;
    statuses(flags, first, 200);
    statuses(flags, again, 200);
    flags[5] = "8";
    statuses(flags, other, 200);
    for (const char *status = first; *status; status++)
        strikes += *status == '5';
    assert_string_equal(first, again);
    assert_string_not_equal(first, other);
    assert_in_range(strikes, 40, 80); /* 60 are expected; the seed is fixed */
}

static void closes_a_connection_after_a_set_number_of_requests_or_when_idle(void **state)
{
    struct simserve server = simserve_start(
        (const char *[]){ "--close-after-requests", "2", "--keep-alive-idle-ms", "30", NULL });
    int fd = simserve_connect(&server);
    char byte;

    (void)state;
    for (int i = 0; i < 2; i++) {
        ANSWER_AUTO answer = { 0 };

        simserve_send(fd, "GET", "/version", "", "");
        simserve_receive(fd, &answer);
        assert_true(answer.complete);
    }
    assert_int_equal(recv(fd, &byte, 1, 0), 0); /* closed after two requests */
    close(fd);
    fd = simserve_connect(&server);
    simserve_send(fd, "GET", "/version", "", "");
    assert_true(recv(fd, &byte, 1, 0) == 1);
    while (recv(fd, &byte, 1, 0) > 0)
        ; /* reads the answer, then waits until the idle connection is closed */
    close(fd);
    assert_int_equal(simserve_stop(&server), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(streams_correctly_without_a_fault),
        cmocka_unit_test(each_requested_fault_has_its_effect),
        cmocka_unit_test(there_is_a_case_for_every_fault_that_help_lists),
        cmocka_unit_test(combines_faults),
        cmocka_unit_test(refuses_an_unknown_fault),
        cmocka_unit_test(closes_the_connection_after_the_answer_if_requested),
        cmocka_unit_test(a_fault_can_strike_every_nth_request),
        cmocka_unit_test(a_fault_can_strike_at_random_but_reproducibly),
        cmocka_unit_test(closes_a_connection_after_a_set_number_of_requests_or_when_idle),
    };

    return cmocka_run_group_tests(tests, start, stop);
}
