/* SPDX-License-Identifier: Apache-2.0 */
/* libcurl and our own HTTP/1.1 client read the same answers in the same way. */
#include "tests/unit/support/transfer_trial.h"

struct expectation {
    const char *description;
    struct script_step step;
    const char *received; /* NULL: not compared */
    enum failure failure;
    bool stays_open;
};

static const struct expectation expectations[] = {
    { "Content-Length", { WHOLE }, "<200 text/event-stream>four", FAILURE_NONE, true },
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
    { "lines that end with a line feed alone",
      { "HTTP/1.1 200\nTransfer-Encoding: chunked\n\n4\nfour\n0\n\n" },
      "<200 >four",
      FAILURE_NONE,
      true },
    { "a body that ends when the connection is closed",
      { OK "\r\nfour", .after = SCRIPT_CLOSE },
      "<200 text/event-stream>four",
      FAILURE_NONE,
      false },
    { "Connection: close",
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
    { "closed before the length is reached",
      { OK "Content-Length: 9\r\n\r\nfour", .after = SCRIPT_CLOSE },
      "<200 text/event-stream>four",
      FAILURE_RESET,
      false },
    { "closed within a chunk",
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
    { "an unknown transfer coding",
      { OK "Transfer-Encoding: strange\r\n\r\nx" },
      NULL,
      FAILURE_PROTOCOL,
      false },
};

/* Checks how a client reads one answer. A second exchange shows whether the connection was kept
 * open. */
static void check_answer(const struct expectation *expected, bool by_libcurl)
{
    const struct script_step steps[] = { expected->step, { WHOLE }, { NULL } };
    struct trial trial;

    set_up(&trial, steps, by_libcurl);
    exchange(&trial, false);
    if (trial.transfer->failure != expected->failure
        || (expected->received != NULL
            && strcmp(text_string(&trial.received), expected->received) != 0))
        fail_msg("%s, %s: got failure %s and '%s', expected %s and '%s'", expected->description,
                 by_libcurl ? "libcurl" : "our client", failure_name(trial.transfer->failure),
                 text_string(&trial.received), failure_name(expected->failure),
                 expected->received != NULL ? expected->received : "(anything)");
    assert_int_equal(trial.sends, 1);
    assert_true(trial.transfer->is_new);
    assert_false(trial.transfer->went_stale);
    assert_int_equal(trial.transfer->failure_text[0] != '\0', expected->failure != FAILURE_NONE);
    exchange(&trial, false);
    assert_string_equal(trial.received.data, "<200 text/event-stream>four");
    if (trial.transfer->is_new == expected->stays_open)
        fail_msg("%s, %s: the connection %s", expected->description,
                 by_libcurl ? "libcurl" : "our client",
                 trial.transfer->is_new ? "was not kept open" : "was kept open unexpectedly");
    tear_down(&trial);
}

static void both_clients_read_the_same_answers(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof expectations / sizeof *expectations; i++) {
        check_answer(&expectations[i], true);
        check_answer(&expectations[i], false);
    }
}

/* A body of twelve bytes arrives in two chunks, split at every possible position. */
static void chunks_can_end_anywhere(void **state)
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

/* Our client is stricter than libcurl, which takes the "f" of "four" as a hexadecimal size. */
static void a_chunk_whose_size_is_not_hexadecimal_is_refused(void **state)
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_clients_read_the_same_answers),
        cmocka_unit_test(chunks_can_end_anywhere),
        cmocka_unit_test(a_chunk_whose_size_is_not_hexadecimal_is_refused),
    };
    struct error error;

    if (!outbound_global_init(&error))
        return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    outbound_global_finish();
    return failed;
}
