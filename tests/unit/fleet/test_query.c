/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/json/json.h"
#include "base/net/outbound.h"
#include "fleet/query.h"
#include "tests/simserve/harness/simserve.h"
#include "tests/unit/support/canned_server.h"

struct fixture {
    struct query_result result;
    struct error error;
    struct text received; /* what on_text received */
    size_t calls, cancel_after_calls;
    bool received_half_characters;
    const char *bearer; /* the key to send; NULL: none */
};

static void receive(void *context, const char *text, size_t length, int64_t chunks)
{
    struct fixture *f = context;

    (void)chunks;
    f->calls++;
    f->received_half_characters |= !text_is_utf8(text, length);
    text_add_bytes(&f->received, text, length);
}

static bool is_cancelled(void *context)
{
    const struct fixture *f = context;

    return f->cancel_after_calls > 0 && f->calls >= f->cancel_after_calls;
}

static struct query usual_query(struct fixture *f)
{
    return (struct query){ .prompt = "Say \"hi\"",
                           .max_tokens = 10,
                           .temperature = -1,
                           .chat = true,
                           .ttft_timeout_ms = 5000,
                           .idle_timeout_ms = 5000,
                           .total_timeout_ms = 10000,
                           .on_text = receive,
                           .cancelled = is_cancelled,
                           .context = f };
}

static bool ask_port(struct fixture *f, const struct query *query, int port)
{
    struct endpoint endpoint = { .model = "simserve/toy" };

    if (f->bearer != NULL)
        snprintf(endpoint.bearer, sizeof endpoint.bearer, "%s", f->bearer);
    snprintf(endpoint.url, sizeof endpoint.url, "http://127.0.0.1:%d", port);
    return query_run(&endpoint, query, &f->result, &f->error);
}

static void finish(struct fixture *f)
{
    query_result_finish(&f->result);
    text_finish(&f->received);
}

/* ---- A server with known timing ---- */

static bool ask_simserve(struct fixture *f, const struct query *query, const char *const *flags)
{
    struct simserve server = simserve_start(flags);
    bool ok = ask_port(f, query, server.port);

    simserve_stop(&server);
    return ok;
}

static void streams_a_completion_with_its_times_and_counts(void **state)
{
    for (int chat = 0; chat < 2; chat++) {
        struct fixture f = { 0 };
        struct query query = usual_query(&f);

        (void)state;
        query.chat = chat;
        query.max_tokens = 20;
        assert_true(ask_simserve(&f, &query,
                                 (const char *[]){ "--ttft-ms", "60", "--step-ms", "10", NULL }));
        assert_int_equal(f.result.failure, FAILURE_NONE);
        assert_int_equal(f.result.completion_tokens, 20);
        assert_true(f.result.prompt_tokens > 0);
        assert_int_equal(f.result.chunks, 20);
        assert_string_equal(f.result.finish, "length");
        assert_string_equal(f.result.model, "simserve/toy");
        assert_true(f.result.ttft_s >= 0.059); /* no upper bounds: the machine might be busy */
        assert_true(f.result.total_s >= 0.249);
        assert_true(fabs(f.result.tokens_per_s * (f.result.total_s - f.result.ttft_s) - 19) < 0.01);
        assert_int_equal(f.calls, 20);
        assert_string_equal(text_string(&f.received), text_string(&f.result.text));
        finish(&f);
    }
}

static void keeps_reasoning_apart_from_the_answer(void **state)
{
    struct fixture f = { 0 };
    struct query query = usual_query(&f);

    (void)state;
    assert_true(ask_simserve(&f, &query,
                             (const char *[]){ "--ttft-ms", "1", "--step-ms", "1", "--fault",
                                               "reasoning_first=1", NULL }));
    assert_true(f.result.reasoning.length > 0);
    assert_true(f.result.text.length > 0);
    assert_string_equal(text_string(&f.received), text_string(&f.result.text));
    finish(&f);
}

struct expectation {
    const char *fault;
    enum failure failure;
    enum error_kind kind;
    bool partial; /* some text arrived before the failure */
};

static void classifies_how_a_server_fails(void **state)
{
    static const struct expectation rows[] = {
        { "unauthorized=1", FAILURE_AUTH, ERROR_UPSTREAM, false },
        { "too_long=1", FAILURE_TOO_LONG, ERROR_UPSTREAM, false },
        { "rate_limited=1", FAILURE_RATE_LIMITED, ERROR_UPSTREAM, false },
        { "internal=1", FAILURE_SERVER_ERROR, ERROR_UPSTREAM, false },
        { "unavailable=1", FAILURE_OVERLOADED_503, ERROR_UPSTREAM, false },
        { "reset_before_headers=1", FAILURE_RESET, ERROR_UPSTREAM, false },
        { "reset_mid_stream=1", FAILURE_RESET, ERROR_UPSTREAM, true },
        { "error_event=1", FAILURE_STREAM_ERROR, ERROR_UPSTREAM, true },
        { "truncated=1", FAILURE_TRUNCATED, ERROR_UPSTREAM, true },
        { "stall_before_first=1", FAILURE_TTFT_TIMEOUT, ERROR_TIMEOUT, false },
        { "stall_mid_stream=1", FAILURE_IDLE_TIMEOUT, ERROR_TIMEOUT, true },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct fixture f = { 0 };
        struct query query = usual_query(&f);

        query.ttft_timeout_ms = query.idle_timeout_ms = 300;
        assert_false(ask_simserve(&f, &query,
                                  (const char *[]){ "--ttft-ms", "5", "--step-ms", "1", "--fault",
                                                    rows[i].fault, NULL }));
        if (f.result.failure != rows[i].failure || f.error.kind != rows[i].kind)
            fail_msg("%s: %s, %s", rows[i].fault, failure_name(f.result.failure), f.error.message);
        assert_int_equal(f.result.text.length > 0, rows[i].partial);
        assert_non_null(strstr(f.error.message, failure_name(rows[i].failure)));
        finish(&f);
    }
}

static void reads_streams_with_unusual_layouts(void **state)
{
    static const char *const faults[] = { "missing_done=1",       "usage_in_every_chunk=1",
                                          "crlf_lines=1",         "no_space_after_data=1",
                                          "split_events=1",       "joined_events=1",
                                          "comment_lines=1",      "no_role_chunk=1",
                                          "slow_headers=1",       "usage_in_last_content=1",
                                          "wrong_finish_reason=1" };

    (void)state;
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        struct fixture f = { 0 };
        struct query query = usual_query(&f);

        if (!ask_simserve(
                &f, &query,
                (const char *[]){ "--ttft-ms", "1", "--step-ms", "1", "--fault", faults[i], NULL }))
            fail_msg("%s: %s", faults[i], f.error.message);
        assert_int_equal(f.result.completion_tokens, 10);
        assert_int_equal(f.result.chunks, 10);
        finish(&f);
    }
}

static void tokens_that_the_server_does_not_count_are_not_known(void **state)
{
    struct fixture f = { 0 };
    struct query query = usual_query(&f);

    (void)state;
    assert_true(ask_simserve(
        &f, &query, (const char *[]){ "--fault", "missing_usage=1", "--step-ms", "1", NULL }));
    assert_int_equal(f.result.completion_tokens, -1);
    assert_int_equal(f.result.prompt_tokens, -1);
    assert_int_equal(f.result.chunks, 10);
    assert_true(isnan(f.result.tokens_per_s));
    finish(&f);
}

static void stops_when_cancelled_and_keeps_what_has_arrived(void **state)
{
    struct fixture f = { .cancel_after_calls = 3 };
    struct query query = usual_query(&f);

    (void)state;
    query.max_tokens = 2000;
    assert_false(
        ask_simserve(&f, &query, (const char *[]){ "--ttft-ms", "5", "--step-ms", "20", NULL }));
    assert_int_equal(f.result.failure, FAILURE_CANCELLED);
    assert_int_equal(f.error.kind, ERROR_CANCELLED);
    assert_true(f.result.text.length > 0);
    assert_in_range(f.result.chunks, 3, 100);
    finish(&f);
}

static void ends_an_answer_that_takes_longer_than_allowed(void **state)
{
    struct fixture f = { 0 };
    struct query query = usual_query(&f);

    (void)state;
    query.max_tokens = 2000;
    query.total_timeout_ms = 300;
    assert_false(
        ask_simserve(&f, &query, (const char *[]){ "--ttft-ms", "5", "--step-ms", "20", NULL }));
    assert_int_equal(f.result.failure, FAILURE_TOTAL_TIMEOUT);
    assert_int_equal(f.error.kind, ERROR_TIMEOUT);
    assert_true(f.result.chunks > 3);
    finish(&f);
}

/* ---- A server with prepared answers ---- */

static bool ask_canned(struct fixture *f, const struct query *query,
                       const struct canned_answer *answers, struct canned_server *server)
{
    bool ok;

    canned_start(server, answers);
    ok = ask_port(f, query, server->port);
    canned_stop(server);
    return ok;
}

#define CHAT "/v1/chat/completions"
#define HELLO                                                                                      \
    "data: {\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}\n\n"              \
    "data: {\"choices\":[{\"delta\":{\"content\":\"Gr\xc3\xbc\xc3\x9f \"}}]}\n\n"                  \
    "data: {\"choices\":[{\"delta\":{\"content\":\"\xf0\x9f\x98\x80\\u20ac\"},"                    \
    "\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":7,\"completion_tokens\":5}}\n\n"    \
    "data: [DONE]\n\n"

static void never_passes_on_half_a_character(void **state)
{
    static const struct canned_answer answers[] = {
        { CHAT, .type = "text/event-stream", .body = HELLO, .piece_bytes = 3 }, { NULL }
    };
    struct canned_server server;
    struct fixture f = { 0 };
    struct query query = usual_query(&f);

    (void)state;
    assert_true(ask_canned(&f, &query, answers, &server));
    assert_string_equal(text_string(&f.received),
                        "Gr\xc3\xbc\xc3\x9f \xf0\x9f\x98\x80\xe2\x82\xac");
    assert_false(f.received_half_characters);
    assert_int_equal(f.result.chunks, 2);
    assert_int_equal(f.result.prompt_tokens, 7);
    assert_int_equal(f.result.completion_tokens, 5);
    finish(&f);
}

static void reads_an_answer_that_is_not_streamed(void **state)
{
    static const struct canned_answer answers[] = {
        { CHAT, .body = "  {\"model\":\"other\",\"choices\":[{\"message\":{\"content\":\"Hi.\","
                        "\"reasoning_content\":\"hm\"},\"finish_reason\":\"stop\"}],"
                        "\"usage\":{\"prompt_tokens\":4,\"completion_tokens\":2}}" },
        { NULL }
    };
    struct canned_server server;
    struct fixture f = { 0 };
    struct query query = usual_query(&f);

    (void)state;
    assert_true(ask_canned(&f, &query, answers, &server));
    assert_string_equal(text_string(&f.result.text), "Hi.");
    assert_string_equal(text_string(&f.received), "Hi.");
    assert_string_equal(text_string(&f.result.reasoning), "hm");
    assert_string_equal(f.result.model, "other");
    assert_string_equal(f.result.finish, "stop");
    assert_int_equal(f.result.completion_tokens, 2);
    assert_true(isnan(f.result.ttft_s));
    assert_true(f.result.total_s > 0);
    assert_true(isnan(f.result.tokens_per_s));
    finish(&f);
}

static void refuses_answers_that_are_not_completions(void **state)
{
    static const struct canned_answer shapes[][2] = {
        { { CHAT, .type = "text/html", .body = "<html>welcome</html>" } },
        { { CHAT, .body = "{\"error\":{\"message\":\"no GPU\"}}" } },
        { { CHAT, .body = "{\"choices\":[" } },
        { { CHAT, .type = "text/event-stream", .body = "data: {broken\n\ndata: [DONE]\n\n" } },
        { { CHAT, .type = "text/event-stream", .body = "" } },
    };

    (void)state;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        struct canned_server server;
        struct fixture f = { 0 };
        struct query query = usual_query(&f);

        assert_false(ask_canned(&f, &query, shapes[i], &server));
        assert_int_equal(f.result.failure, FAILURE_PROTOCOL);
        assert_int_equal(f.error.kind, ERROR_UPSTREAM);
        finish(&f);
    }
}

static void a_complete_answer_without_content_fails_as_empty(void **state)
{
    static const struct canned_answer answers[] = {
        { CHAT, .type = "text/event-stream",
          .body = "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n"
                  "data: [DONE]\n\n" },
        { NULL }
    };
    struct canned_server server;
    struct fixture f = { 0 };
    struct query query = usual_query(&f);

    (void)state;
    assert_false(ask_canned(&f, &query, answers, &server));
    assert_int_equal(f.result.failure, FAILURE_EMPTY);
    assert_true(isnan(f.result.ttft_s));
    finish(&f);
}

static void repeats_a_request_without_the_fields_that_the_server_refuses(void **state)
{
    static const struct canned_answer answers[] = {
        { CHAT, .when = "stream_options", .status = 422,
          .body =
              "{\"detail\":[{\"loc\":[\"body\",\"stream_options\"],\"msg\":\"extra fields\"}]}" },
        { CHAT, .when = "max_completion_tokens", .status = 500,
          .body = "{\"message\":\"unexpected argument max_completion_tokens\"}" },
        { CHAT, .when = "\"max_tokens\":10", .type = "text/event-stream", .body = HELLO },
        { NULL }
    };
    struct canned_server server;
    struct fixture f = { 0 };
    struct query query = usual_query(&f);

    (void)state;
    assert_true(ask_canned(&f, &query, answers, &server));
    assert_int_equal(server.requests, 3);
    assert_int_equal(f.result.completion_tokens, 5);
    finish(&f);
}

static void sends_the_token_limit_under_the_name_that_the_server_accepts(void **state)
{
    static const struct canned_answer answers[] = {
        { CHAT, .when = "\"max_tokens\"", .status = 400,
          .body = "{\"error\":{\"message\":\"Unsupported parameter: 'max_tokens' is not supported. "
                  "Use 'max_completion_tokens' instead.\"}}" },
        { CHAT, .when = "max_completion_tokens", .type = "text/event-stream", .body = HELLO },
        { NULL }
    };
    struct canned_server server;
    struct fixture f = { 0 };
    struct query query = usual_query(&f);

    (void)state;
    assert_true(ask_canned(&f, &query, answers, &server));
    assert_int_equal(server.requests, 2);
    finish(&f);
}

static void does_not_repeat_a_request_that_is_refused_for_another_reason(void **state)
{
    static const struct canned_answer answers[] = {
        { CHAT, .status = 400,
          .body = "{\"error\":{\"message\":\"temperature must be below 2\"}}" },
        { NULL }
    };
    struct canned_server server;
    struct fixture f = { 0 };
    struct query query = usual_query(&f);

    (void)state;
    assert_false(ask_canned(&f, &query, answers, &server));
    assert_int_equal(server.requests, 1);
    assert_int_equal(f.result.failure, FAILURE_REFUSED_400);
    assert_non_null(strstr(f.error.message, "temperature must be below 2"));
    finish(&f);
}

static void sends_the_requested_parameters(void **state)
{
    static const struct canned_answer answers[] = {
        { CHAT, .type = "text/event-stream", .body = HELLO },
        { "/v1/completions", .type = "text/event-stream",
          .body = "data: {\"choices\":[{\"text\":\"x\",\"finish_reason\":\"stop\"}]}\n\n" },
        { NULL }
    };
    struct canned_server server;
    struct fixture f = { 0 }, g = { 0 };
    struct query query = usual_query(&f);

    (void)state;
    query.system = "Be brief";
    query.temperature = 0.5;
    assert_true(ask_canned(&f, &query, answers, &server));
    assert_string_equal(
        server.bodies[0],
        "{\"model\":\"simserve/toy\",\"messages\":[{\"role\":\"system\",\"content\":\"Be brief\"},"
        "{\"role\":\"user\",\"content\":\"Say \\\"hi\\\"\"}],\"max_tokens\":10,"
        "\"max_completion_tokens\":10,\"temperature\":0.5,\"stream\":true,"
        "\"stream_options\":{\"include_usage\":true}}");
    query = usual_query(&g);
    query.chat = false;
    assert_true(ask_canned(&g, &query, answers, &server));
    assert_string_equal(server.bodies[0],
                        "{\"model\":\"simserve/toy\",\"prompt\":\"Say \\\"hi\\\"\","
                        "\"max_tokens\":10,\"stream\":true,"
                        "\"stream_options\":{\"include_usage\":true}}");
    assert_string_equal(text_string(&g.result.text), "x");
    finish(&f);
    finish(&g);
}

static void limits_the_text_that_it_keeps(void **state)
{
    static char body[1400000];
    const struct canned_answer answers[] = { { CHAT, .type = "text/event-stream", .body = body },
                                             { NULL } };
    struct canned_server server;
    struct fixture f = { 0 };
    struct query query = usual_query(&f);
    char *end = body;

    (void)state;
    for (int i = 0; i < 13; i++) {
        end = stpcpy(end, "data: {\"choices\":[{\"delta\":{\"content\":\"");
        memset(end, 'x', 100000);
        end = stpcpy(end + 100000, "\"}}]}\n\n");
    }
    stpcpy(end, "data: [DONE]\n\n");
    assert_true(ask_canned(&f, &query, answers, &server));
    assert_true(f.result.text.length <= 1 << 20);
    assert_true(f.result.text.length > 1000000);
    assert_int_equal(f.result.chunks, 13);
    finish(&f);
}

static void reports_that_nothing_listens_on_the_port(void **state)
{
    static const struct canned_answer answers[] = { { NULL } };
    struct canned_server server;
    struct fixture f = { 0 };
    struct query query = usual_query(&f);

    (void)state;
    canned_start(&server, answers);
    canned_stop(&server);
    assert_false(ask_port(&f, &query, server.port));
    assert_int_equal(f.result.failure, FAILURE_CONNECT_REFUSED);
    assert_true(isnan(f.result.total_s));
    finish(&f);
}

static int start(void **state)
{
    struct error error;

    (void)state;
    return outbound_global_init(&error) ? 0 : -1;
}

/* ---- A server that repeats the key it was sent ---- */

#define SECRET "Lab-7f3Kq9ZxT0vW2mR8uYc41"
#define CHUNK(text) "data: {\"choices\":[{\"delta\":{\"content\":\"" text "\"}}]}\n\n"
#define DONE "data: [DONE]\n\n"

/* Checks that the secret is hidden wherever the server repeats it. If `succeeds`, the query must
 * succeed with the text `expected`; otherwise it must fail with an error containing `expected`. */
static void assert_masked(const struct canned_answer *answers, bool succeeds, const char *expected)
{
    struct fixture f = { .bearer = SECRET };
    const struct query query = usual_query(&f);
    struct canned_server server;

    canned_start(&server, answers);
    assert_int_equal(ask_port(&f, &query, server.port), succeeds);
    canned_stop(&server);
    if (succeeds) {
        assert_string_equal(text_string(&f.result.text), expected);
        assert_string_equal(text_string(&f.received), expected);
    } else if (strstr(f.error.message, expected) == NULL) {
        fail_msg("\"%s\" does not contain \"%s\"", f.error.message, expected);
    }
    assert_null(strstr(f.error.message, "3Kq9"));
    assert_null(strstr(f.result.finish, "3Kq9"));
    assert_null(strstr(f.result.model, "3Kq9"));
    assert_null(strstr(text_string(&f.result.reasoning), "3Kq9"));
    finish(&f);
}

#define ANSWERS(...)                                                                               \
    ((const struct canned_answer[]){ { "/v1/chat/completions", __VA_ARGS__ }, { 0 } })

static void hides_the_secret_in_an_answer_however_it_is_split(void **state)
{
    static const char in_pieces[] = CHUNK("It is La") CHUNK("b-7f3Kq9Zx") CHUNK("T0vW2m")
        CHUNK("R8\\u0075Yc4") CHUNK("1, I") CHUNK(" think.") DONE;
    static const char in_one_chunk[] = CHUNK(SECRET) DONE;
    static const char in_other_members[] =
        "data: {\"choices\":[{\"delta\":{\"reasoning\":\"" SECRET
        "\"}}]}\n\n" CHUNK("ok") "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"" SECRET
                                 "\"}]}\n\n" DONE;
    /* The content lacks the secret's last character, but large pieces are hidden, too (mask.h). */
    static const char without_stream[] =
        "{\"model\":\"" SECRET "\",\"choices\":[{\"message\":"
        "{\"content\":\"\\u004cab-7f3Kq9ZxT0vW2mR8uYc4\"},\"finish_reason\":\"stop\"}]}";

    (void)state;
    assert_masked(ANSWERS(.type = "text/event-stream", .body = in_pieces), true,
                  "It is (hidden), I think.");
    assert_masked(ANSWERS(.type = "text/event-stream", .piece_bytes = 7, .body = in_one_chunk),
                  true, "(hidden)");
    assert_masked(ANSWERS(.type = "text/event-stream", .body = in_other_members), true, "ok");
    assert_masked(ANSWERS(.body = without_stream), true, "(hidden)");
}

static void hides_the_secret_in_errors(void **state)
{
    (void)state;
    assert_masked(ANSWERS(.status = 401, .body = "{\"error\":{\"message\":\"no key " SECRET "\"}}"),
                  false, "the server answered 401: no key (hidden) (auth)");
    /* The secret in base64. The last characters are not hidden, because they depend on what follows
     * the secret. */
    assert_masked(ANSWERS(.status = 500, .type = "text/plain",
                          .body = "TGFiLTdmM0txOVp4VDB2VzJtUjh1WWM0MQ== failed"),
                  false, "500: (hidden)Q== failed");
    assert_masked(ANSWERS(.type = "text/event-stream",
                          .body = "data: {\"error\":{\"message\":\"bad " SECRET "\"}}\n\n"),
                  false, "inside its answer: bad (hidden)");
    assert_masked(ANSWERS(.type = "text/" SECRET, .body = "hello"), false, "text/(hidden)");
    assert_masked(ANSWERS(.body = "{\"no\": \"" SECRET "\"}"), false, "(hidden)");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(streams_a_completion_with_its_times_and_counts),
        cmocka_unit_test(keeps_reasoning_apart_from_the_answer),
        cmocka_unit_test(classifies_how_a_server_fails),
        cmocka_unit_test(reads_streams_with_unusual_layouts),
        cmocka_unit_test(tokens_that_the_server_does_not_count_are_not_known),
        cmocka_unit_test(stops_when_cancelled_and_keeps_what_has_arrived),
        cmocka_unit_test(ends_an_answer_that_takes_longer_than_allowed),
        cmocka_unit_test(never_passes_on_half_a_character),
        cmocka_unit_test(reads_an_answer_that_is_not_streamed),
        cmocka_unit_test(refuses_answers_that_are_not_completions),
        cmocka_unit_test(a_complete_answer_without_content_fails_as_empty),
        cmocka_unit_test(repeats_a_request_without_the_fields_that_the_server_refuses),
        cmocka_unit_test(hides_the_secret_in_an_answer_however_it_is_split),
        cmocka_unit_test(hides_the_secret_in_errors),
        cmocka_unit_test(sends_the_token_limit_under_the_name_that_the_server_accepts),
        cmocka_unit_test(does_not_repeat_a_request_that_is_refused_for_another_reason),
        cmocka_unit_test(sends_the_requested_parameters),
        cmocka_unit_test(limits_the_text_that_it_keeps),
        cmocka_unit_test(reports_that_nothing_listens_on_the_port),
    };

    return cmocka_run_group_tests(tests, start, NULL);
}
