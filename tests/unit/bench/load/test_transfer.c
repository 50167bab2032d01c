/* SPDX-License-Identifier: Apache-2.0 */
/* Exchanges by libcurl and by our own HTTP/1.1 are the same: one server, one script, two ways. */
#include "bench/load/transfer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/core/clock.h"
#include "base/net/outbound.h"
#include "tests/unit/support/script_server.h"

#define DEADLINE_NS 20000000000

/* One user and the events that it received. */
struct trial {
    struct script_server server;
    struct endpoint endpoint;
    struct workload workload;
    struct target_address target;
    struct connection_reuse reuse;
    struct load load;
    struct load_loop loop;
    struct transfer *transfer;
    struct text received; /* "<200 type>", then the body */
    unsigned sends;
    size_t limit; /* of `received`; then no more is wanted */
};

static void on_send(void *context, int64_t now_ns)
{
    struct trial *trial = context;

    assert_true(now_ns > 0);
    trial->sends++;
}

static void on_head(void *context, long status, const char *content_type)
{
    struct trial *trial = context;

    text_addf(&trial->received, "<%ld %s>", status, content_type);
}

static bool on_bytes(void *context, const char *bytes, size_t length, int64_t now_ns)
{
    struct trial *trial = context;

    assert_true(now_ns > 0);
    text_add_bytes(&trial->received, bytes, length);
    return trial->limit == 0 || trial->received.length < trial->limit;
}

static void note_late(void *context, int64_t late_ns)
{
    (void)context, (void)late_ns;
}

static void set_up(struct trial *trial, const struct script_step *steps, bool by_libcurl)
{
    static const struct transfer_listener listener = { on_send, on_head, on_bytes };
    struct error error;

    *trial = (struct trial){ .workload.api = BENCH_COMPLETIONS };
    script_start(&trial->server, steps);
    snprintf(trial->endpoint.url, sizeof trial->endpoint.url, "http://127.0.0.1:%d/base",
             trial->server.port);
    assert_true(target_address_resolve(&trial->endpoint, &trial->target, &error));
    trial->load = (struct load){ .endpoint = &trial->endpoint,
                                 .workload = &trial->workload,
                                 .target = &trial->target,
                                 .reuse = &trial->reuse,
                                 .only_libcurl = by_libcurl };
    load_credential_set(&trial->load, "a-secret");
    assert_true(load_loop_init(&trial->loop, 4, note_late, trial, &error));
    assert_true(
        transfer_create(&trial->load, &trial->loop, &listener, trial, &trial->transfer, &error));
    memset(trial->transfer->request_id, 'f', REQUEST_ID_DIGITS);
}

static void tear_down(struct trial *trial)
{
    transfer_destroy(trial->transfer);
    load_credential_finish(&trial->load);
    load_loop_finish(&trial->loop);
    target_address_finish(&trial->target);
    text_finish(&trial->received);
    script_stop(&trial->server);
}

static void turn(struct trial *trial)
{
    load_loop_turn(&trial->loop, clock_monotonic_ns() + 10000000);
}

static void wait_for_end(struct trial *trial)
{
    int64_t until_ns = clock_monotonic_ns() + DEADLINE_NS;
    struct transfer *ended;

    while ((ended = transfer_take_ended(&trial->loop)) == NULL) {
        turn(trial);
        if (clock_monotonic_ns() > until_ns)
            fail_msg("the exchange does not end");
    }
    assert_ptr_equal(ended, trial->transfer);
    transfer_end(ended);
}

static void begin(struct trial *trial, struct bench_prompt *prompt, bool is_fresh)
{
    text_clear(&trial->received);
    trial->sends = 0;
    prompt_source_rewind(prompt);
    transfer_begin(trial->transfer, prompt, is_fresh);
}

static void exchange(struct trial *trial, bool is_fresh)
{
    struct bench_prompt prompt = { .parts = { { "{\"a\":", 5 }, { "1", 1 }, { "}", 1 }, { "", 0 } },
                                   .length = 7 };

    begin(trial, &prompt, is_fresh);
    wait_for_end(trial);
}

#define OK "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
#define CHUNKED OK "Transfer-Encoding: chunked\r\n\r\n"
#define WHOLE OK "Content-Length: 4\r\n\r\nfour"

/* ---- Single answers -------------------------------------------------------------------------- */

struct expectation {
    const char *what;
    struct script_step step;
    const char *received;
    enum failure failure;
    bool stays_open;
};

static const struct expectation expectations[] = {
    { "a length", { WHOLE }, "<200 text/event-stream>four", FAILURE_NONE, true },
    { "chunks",
      { CHUNKED "4\r\nfour\r\n4;x=y\r\nfive\r\n0\r\n\r\n" },
      "<200 text/event-stream>fourfive",
      FAILURE_NONE,
      true },
    { "chunks, byte by byte",
      { CHUNKED "4\r\nfour\r\n4\r\nfive\r\n0\r\nA: b\r\n\r\n", .piece = 1 },
      "<200 text/event-stream>fourfive",
      FAILURE_NONE,
      true },
    { "line feeds alone",
      { "HTTP/1.1 200\nTransfer-Encoding: chunked\n\n4\nfour\n0\n\n" },
      "<200 >four",
      FAILURE_NONE,
      true },
    { "until it closes",
      { OK "\r\nfour", .after = SCRIPT_CLOSE },
      "<200 text/event-stream>four",
      FAILURE_NONE,
      false },
    { "asked to close",
      { OK "Connection: close\r\nContent-Length: 4\r\n\r\nfour" },
      "<200 text/event-stream>four",
      FAILURE_NONE,
      false },
    { "HTTP/1.0",
      { "HTTP/1.0 200 OK\r\nContent-Length: 4\r\n\r\nfour" },
      "<200 >four",
      FAILURE_NONE,
      false },
    { "interim answers",
      { "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" WHOLE,
        .piece = 7 },
      "<200 text/event-stream>four",
      FAILURE_NONE,
      true },
    { "no body",
      { "HTTP/1.1 503 Busy\r\nContent-Length: 0\r\nRetry-After: 1\r\n\r\n" },
      "<503 >",
      FAILURE_NONE,
      true },
    { "204", { "HTTP/1.1 204 None\r\n\r\n" }, "<204 >", FAILURE_NONE, true },
    { "an error with a body",
      { "HTTP/1.1 400 Bad\r\nContent-Length: 2\r\n\r\n{}" },
      "<400 >{}",
      FAILURE_NONE,
      true },
    { "closed at once", { "", .after = SCRIPT_CLOSE }, "", FAILURE_RESET, false },
    { "reset at once", { "", .after = SCRIPT_RESET }, "", FAILURE_RESET, false },
    { "closed in a length",
      { OK "Content-Length: 9\r\n\r\nfour", .after = SCRIPT_CLOSE },
      "<200 text/event-stream>four",
      FAILURE_RESET,
      false },
    { "closed in a chunk",
      { CHUNKED "9\r\nfour", .after = SCRIPT_CLOSE },
      "<200 text/event-stream>four",
      FAILURE_RESET,
      false },
    { "closed after a chunk",
      { CHUNKED "4\r\nfour\r\n", .after = SCRIPT_CLOSE },
      "<200 text/event-stream>four",
      FAILURE_RESET,
      false },
    { "not HTTP",
      { "SSH-2.0-OpenSSH_9.2\r\n", .after = SCRIPT_CLOSE },
      "",
      FAILURE_PROTOCOL,
      false },
    { "a coding nobody asked for",
      { OK "Transfer-Encoding: strange\r\n\r\nx" },
      NULL,
      FAILURE_PROTOCOL,
      false },
};

/* A second exchange shows whether the connection was kept. */
static void check_answer(const struct expectation *expected, bool by_libcurl)
{
    const struct script_step steps[] = { expected->step, { WHOLE }, { NULL } };
    struct trial trial;

    set_up(&trial, steps, by_libcurl);
    exchange(&trial, false);
    if (trial.transfer->failure != expected->failure
        || (expected->received != NULL
            && strcmp(text_string(&trial.received), expected->received) != 0))
        fail_msg("%s, %s: %s '%s'", expected->what, by_libcurl ? "libcurl" : "ours",
                 failure_name(trial.transfer->failure), text_string(&trial.received));
    assert_int_equal(trial.sends, 1);
    assert_true(trial.transfer->is_new);
    assert_false(trial.transfer->went_stale);
    assert_int_equal(trial.transfer->failure_text[0] != '\0', expected->failure != FAILURE_NONE);
    exchange(&trial, false);
    assert_string_equal(trial.received.data, "<200 text/event-stream>four");
    if (trial.transfer->is_new == expected->stays_open)
        fail_msg("%s, %s: the connection is %s", expected->what, by_libcurl ? "libcurl" : "ours",
                 trial.transfer->is_new ? "closed" : "kept");
    tear_down(&trial);
}

static void both_ways_read_the_same_answers(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof expectations / sizeof *expectations; i++) {
        check_answer(&expectations[i], true);
        check_answer(&expectations[i], false);
    }
}

/* Twelve bytes of body in two chunks, split at every place. */
static void chunks_may_end_anywhere(void **state)
{
    (void)state;
    for (size_t cut = 1; cut < 12; cut++) {
        char bytes[256];
        struct trial trial;

        snprintf(bytes, sizeof bytes, CHUNKED "%zx\r\n%.*s\r\n%zx\r\n%s\r\n0\r\n\r\n", cut,
                 (int)cut, "data: {}\n\nda", 12 - cut, "data: {}\n\nda" + cut);
        const struct script_step steps[] = { { bytes, .piece = cut }, { NULL } };
        set_up(&trial, steps, false);
        exchange(&trial, false);
        assert_string_equal(trial.received.data, "<200 text/event-stream>data: {}\n\nda");
        assert_int_equal(trial.transfer->failure, FAILURE_NONE);
        tear_down(&trial);
    }
}

/* Strict where libcurl is not: a chunk that ends too late invalidates the answer. */
static void chunks_without_a_size_are_refused(void **state)
{
    static const struct script_step steps[] = { { CHUNKED "four\r\n", .after = SCRIPT_CLOSE },
                                                { NULL } };
    struct trial trial;

    (void)state;
    set_up(&trial, steps, false);
    exchange(&trial, false);
    assert_int_equal(trial.transfer->failure, FAILURE_PROTOCOL);
    assert_string_equal(trial.transfer->failure_text,
                        "the size of a chunk is not a hexadecimal number");
    tear_down(&trial);
}

/* ---- Connections ----------------------------------------------------------------------------- */

static int compare_lines(const void *a, const void *b)
{
    return strcasecmp(*(const char *const *)a, *(const char *const *)b);
}

/* The head's lines in order: which comes first means nothing. */
static void sort_lines(char *head, struct text *out)
{
    char *lines[32], *rest = head;
    size_t count = 0;

    while (count < 32 && (lines[count] = strsep(&rest, "\r\n")) != NULL)
        count += lines[count][0] != '\0';
    qsort(lines, count, sizeof *lines, compare_lines);
    for (size_t i = 0; i < count; i++)
        text_addf(out, "%s\n", lines[i]);
}

static void both_ways_send_the_same_request(void **state)
{
    static const struct script_step steps[] = { { WHOLE }, { NULL } };
    struct text heads[2] = { { 0 } };

    (void)state;
    for (int by_libcurl = 0; by_libcurl < 2; by_libcurl++) {
        struct trial trial;

        set_up(&trial, steps, by_libcurl == 1);
        exchange(&trial, false);
        assert_int_equal(trial.server.body_bytes, 7);
        char *port = strstr(trial.server.head, "127.0.0.1:"); /* another one each time */
        if (port == NULL)
            fail_msg("no Host");
        else
            memset(port + 10, 'N', strspn(port + 10, "0123456789"));
        sort_lines(trial.server.head, &heads[by_libcurl]);
        tear_down(&trial);
    }
    assert_non_null(strstr(heads[0].data, "POST /base/v1/completions HTTP/1.1\n"));
    assert_non_null(strstr(heads[0].data, "Authorization: Bearer a-secret\n"));
    assert_string_equal(heads[0].data, heads[1].data);
    text_finish(&heads[0]);
    text_finish(&heads[1]);
}

/* The requests before it had the old one: it stays known, so that it stays hidden. */
static void a_new_credential_is_on_the_next_request(void **state)
{
    static const struct script_step steps[] = { { WHOLE }, { WHOLE }, { NULL } };

    (void)state;
    for (int by_libcurl = 0; by_libcurl < 2; by_libcurl++) {
        char words[64] = "a-secret-of-before-1 and a-secret-from-now-on-2";
        struct trial trial;

        set_up(&trial, steps, by_libcurl == 1);
        load_credential_set(&trial.load, "a-secret-of-before-1");
        exchange(&trial, false);
        assert_true(script_has(&trial.server, "Bearer a-secret-of-before-1\r\n"));
        load_credential_set(&trial.load, "a-secret-from-now-on-2");
        exchange(&trial, false);
        assert_true(script_has(&trial.server, "Bearer a-secret-from-now-on-2\r\n"));
        assert_false(script_has(&trial.server, "before"));
        assert_int_equal(atomic_load(&trial.server.connections), 1);
        load_credential_mask(&trial.load, words, sizeof words);
        assert_string_equal(words, "(hidden) and (hidden)");
        tear_down(&trial);
    }
}

/* An open connection that the server closes when the next request comes: reported, so that the
 * request can be sent again. */
static void a_connection_that_went_stale_is_reported(void **state)
{
    static const struct script_step steps[] = {
        { WHOLE }, { "", .after = SCRIPT_CLOSE }, { WHOLE }, { NULL }
    };

    (void)state;
    for (int by_libcurl = 0; by_libcurl < 2; by_libcurl++) {
        struct trial trial;

        set_up(&trial, steps, by_libcurl == 1);
        exchange(&trial, false);
        assert_true(trial.transfer->is_new && trial.transfer->connect_ns > 0);
        exchange(&trial, false);
        if (trial.transfer->went_stale) { /* libcurl may have tried again by itself */
            assert_false(trial.transfer->is_new);
            assert_int_equal(trial.sends, 1);
            exchange(&trial, true);
            assert_true(trial.transfer->is_new);
        } else {
            assert_true(by_libcurl && trial.sends == 2);
        }
        assert_string_equal(trial.received.data, "<200 text/event-stream>four");
        assert_int_equal(trial.server.connections, 2);
        tear_down(&trial);
    }
}

static void a_server_that_closes_after_each_answer_is_asked_on_a_new_connection(void **state)
{
    static const struct script_step steps[] = { { WHOLE, .after = SCRIPT_CLOSE }, { NULL } };

    (void)state;
    for (int by_libcurl = 0; by_libcurl < 2; by_libcurl++) {
        struct trial trial;

        set_up(&trial, steps, by_libcurl == 1);
        for (int i = 0; i < 20; i++) {
            exchange(&trial, false);
            if (trial.transfer->went_stale)
                exchange(&trial, true);
        }
        assert_int_equal(atomic_load(&trial.reuse.limit), 1);
        for (int i = 0; i < 20; i++) {
            exchange(&trial, false);
            assert_true(trial.transfer->is_new);
            assert_int_equal(trial.sends, 1);
            assert_string_equal(trial.received.data, "<200 text/event-stream>four");
        }
        tear_down(&trial);
    }
}

/* Closed while nothing was in flight: a new one is opened, and the old one is not reported. */
static void a_connection_closed_between_requests_is_not_used_again(void **state)
{
    static const struct script_step steps[] = { { WHOLE, .after = SCRIPT_CLOSE },
                                                { WHOLE },
                                                { NULL } };

    (void)state;
    for (int by_libcurl = 0; by_libcurl < 2; by_libcurl++) {
        struct trial trial;

        set_up(&trial, steps, by_libcurl == 1);
        exchange(&trial, false);
        script_wait_closed(&trial.server, 1);
        turn(&trial);
        exchange(&trial, false);
        assert_int_equal(trial.transfer->failure, FAILURE_NONE);
        assert_int_equal(trial.sends, 1);
        assert_true(trial.transfer->is_new);
        tear_down(&trial);
    }
}

static void bytes_that_nobody_asked_for_cost_the_connection(void **state)
{
    static const struct script_step steps[] = { { WHOLE "HTTP/1.1 200 OK\r\n" },
                                                { WHOLE },
                                                { NULL } };

    (void)state;
    for (int by_libcurl = 0; by_libcurl < 2; by_libcurl++) {
        struct trial trial;

        set_up(&trial, steps, by_libcurl == 1);
        exchange(&trial, false);
        assert_int_equal(trial.transfer->failure, FAILURE_NONE);
        exchange(&trial, false);
        assert_int_equal(trial.transfer->failure, FAILURE_NONE);
        assert_true(trial.transfer->is_new);
        tear_down(&trial);
    }
}

static void an_exchange_can_be_cut(void **state)
{
    static const struct script_step steps[] = { { CHUNKED "4\r\nfour\r\n" }, { WHOLE }, { NULL } };
    struct bench_prompt prompt = { .parts = { { "{}", 2 }, { "", 0 }, { "", 0 }, { "", 0 } },
                                   .length = 2 };

    (void)state;
    for (int by_libcurl = 0; by_libcurl < 2; by_libcurl++) {
        struct trial trial;

        set_up(&trial, steps, by_libcurl == 1);
        begin(&trial, &prompt, false);
        while (trial.received.length < strlen("<200 text/event-stream>four"))
            turn(&trial);
        transfer_end(trial.transfer);
        assert_int_equal(trial.transfer->failure, FAILURE_NONE);
        exchange(&trial, false);
        assert_true(trial.transfer->is_new);
        assert_string_equal(trial.received.data, "<200 text/event-stream>four");
        tear_down(&trial);
    }
}

static void a_listener_that_wants_no_more_ends_the_exchange(void **state)
{
    static const struct script_step steps[] = { { CHUNKED "4\r\nfour\r\n4\r\nfive\r\n" },
                                                { NULL } };

    (void)state;
    for (int by_libcurl = 0; by_libcurl < 2; by_libcurl++) {
        struct trial trial;

        set_up(&trial, steps, by_libcurl == 1);
        trial.limit = 5;
        exchange(&trial, false);
        assert_string_equal(trial.received.data, "<200 text/event-stream>four");
        assert_int_equal(trial.transfer->failure, FAILURE_PROTOCOL);
        tear_down(&trial);
    }
}

static void a_long_prompt_arrives_whole(void **state)
{
    static const struct script_step steps[] = { { WHOLE, .is_slow = true }, { NULL } };
    size_t length = 8 * 1024 * 1024;
    char *bytes = malloc(length);
    struct bench_prompt prompt = { .parts = { { bytes, length / 2 },
                                              { bytes + length / 2, length / 2 },
                                              { "", 0 },
                                              { "", 0 } },
                                   .length = length };

    (void)state;
    for (size_t i = 0; i < length; i++)
        bytes[i] = (char)('a' + i % 23);
    for (int by_libcurl = 0; by_libcurl < 2; by_libcurl++) {
        struct trial trial;

        set_up(&trial, steps, by_libcurl == 1);
        begin(&trial, &prompt, false);
        wait_for_end(&trial);
        assert_string_equal(trial.received.data, "<200 text/event-stream>four");
        assert_int_equal(trial.server.body_bytes, length);
        assert_int_equal(trial.server.body_sum, script_sum(0, bytes, length));
        tear_down(&trial);
    }
    free(bytes);
}

/* A server that refuses a prompt by its head, and reads no more of it. */
static void an_early_answer_counts(void **state)
{
    static const struct script_step steps[] = {
        { "HTTP/1.1 413 Too Large\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}",
          .is_early = true, .after = SCRIPT_CLOSE },
        { NULL }
    };
    size_t length = 8 * 1024 * 1024;
    char *bytes = calloc(1, length);
    struct bench_prompt prompt = { .parts = { { bytes, length }, { "", 0 }, { "", 0 }, { "", 0 } },
                                   .length = length };
    struct trial trial;

    (void)state;
    set_up(&trial, steps, false);
    begin(&trial, &prompt, false);
    wait_for_end(&trial);
    assert_string_equal(trial.received.data, "<413 >{}");
    assert_int_equal(trial.transfer->failure, FAILURE_NONE);
    tear_down(&trial);
    free(bytes);
}

static void a_refused_connection_is_reported_at_once(void **state)
{
    static const struct script_step steps[] = { { WHOLE }, { NULL } };

    (void)state;
    for (int by_libcurl = 0; by_libcurl < 2; by_libcurl++) {
        struct trial trial;

        set_up(&trial, steps, by_libcurl == 1);
        script_close(&trial.server);
        exchange(&trial, false);
        assert_int_equal(trial.transfer->failure, FAILURE_CONNECT_REFUSED);
        assert_true(trial.transfer->failure_text[0] != '\0');
        assert_int_equal(trial.sends, 0);
        tear_down(&trial);
    }
}

/* Nothing listens on that port of 127.0.0.2: the next address is used, and kept. */
static void the_next_address_is_tried(void **state)
{
    static const struct script_step steps[] = { { WHOLE, .after = SCRIPT_CLOSE }, { NULL } };
    struct sockaddr_in first;
    struct trial trial;

    (void)state;
    set_up(&trial, steps, false);
    trial.target.addresses[1] = trial.target.addresses[0];
    memcpy(&first, &trial.target.addresses[0], sizeof first);
    first.sin_addr.s_addr = htonl(INADDR_LOOPBACK + 1);
    memcpy(&trial.target.addresses[0], &first, sizeof first);
    trial.target.count = 2;
    for (int i = 0; i < 2; i++) {
        exchange(&trial, true);
        assert_string_equal(trial.received.data, "<200 text/event-stream>four");
    }
    tear_down(&trial);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_ways_read_the_same_answers),
        cmocka_unit_test(chunks_may_end_anywhere),
        cmocka_unit_test(chunks_without_a_size_are_refused),
        cmocka_unit_test(both_ways_send_the_same_request),
        cmocka_unit_test(a_new_credential_is_on_the_next_request),
        cmocka_unit_test(a_connection_that_went_stale_is_reported),
        cmocka_unit_test(a_server_that_closes_after_each_answer_is_asked_on_a_new_connection),
        cmocka_unit_test(a_connection_closed_between_requests_is_not_used_again),
        cmocka_unit_test(bytes_that_nobody_asked_for_cost_the_connection),
        cmocka_unit_test(an_exchange_can_be_cut),
        cmocka_unit_test(a_listener_that_wants_no_more_ends_the_exchange),
        cmocka_unit_test(a_long_prompt_arrives_whole),
        cmocka_unit_test(an_early_answer_counts),
        cmocka_unit_test(a_refused_connection_is_reported_at_once),
        cmocka_unit_test(the_next_address_is_tried),
    };
    struct error error;

    if (!outbound_global_init(&error))
        return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    outbound_global_finish();
    return failed;
}
