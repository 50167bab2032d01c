/* SPDX-License-Identifier: Apache-2.0 */
/* libcurl and our own HTTP/1.1 client send the same requests, and handle connections in the same
 * way: when they keep a connection, and what they do if it is stale, cut off or refused. */
#include "tests/unit/support/transfer_trial.h"

static int compare_lines(const void *a, const void *b)
{
    return strcasecmp(*(const char *const *)a, *(const char *const *)b);
}

/* Appends the lines of a request's head, sorted because their order has no meaning. */
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

static void both_clients_send_the_same_request(void **state)
{
    static const struct script_step steps[] = { { WHOLE }, { NULL } };
    struct text heads[2] = { { 0 } };

    (void)state;
    for (int by_libcurl = 0; by_libcurl < 2; by_libcurl++) {
        struct trial trial;

        set_up(&trial, steps, by_libcurl == 1);
        exchange(&trial, false);
        assert_int_equal(trial.server.body_bytes, 7);
        char *port = strstr(trial.server.head, "127.0.0.1:"); /* differs from run to run */
        if (port == NULL)
            fail_msg("the request has no Host header");
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

/* The old credential must still be hidden, too, because earlier requests were sent with it. */
static void a_new_credential_is_used_at_once_and_the_old_one_stays_hidden(void **state)
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

/* The server closes an open connection when the next request arrives. The transfer reports this, so
 * that the caller can send the request again. libcurl can also send it again by itself. */
static void a_stale_connection_is_reported_unless_libcurl_replaces_it(void **state)
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
        if (trial.transfer->went_stale) {
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

static void a_server_that_closes_after_each_answer_gets_a_new_connection_each_time(void **state)
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

/* If the server closes a connection while nothing is in flight, a new one is opened, and the old
 * one is not reported as stale. */
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

static void unexpected_bytes_after_an_answer_close_the_connection(void **state)
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

static void an_exchange_can_be_cut_off(void **state)
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

static void a_listener_that_returns_false_ends_the_exchange(void **state)
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

static void a_long_prompt_arrives_completely(void **state)
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

/* The server refuses the request after reading its head, and does not read the prompt. */
static void an_answer_that_arrives_before_the_whole_prompt_was_sent_is_read(void **state)
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

static void a_refused_connection_is_reported(void **state)
{
    static const struct script_step steps[] = { { WHOLE }, { NULL } };

    (void)state;
    for (int by_libcurl = 0; by_libcurl < 2; by_libcurl++) {
        struct trial trial;

        set_up(&trial, steps, by_libcurl == 1);
        script_stop(&trial.server);
        exchange(&trial, false);
        assert_int_equal(trial.transfer->failure, FAILURE_CONNECT_REFUSED);
        assert_true(trial.transfer->failure_text[0] != '\0');
        assert_int_equal(trial.sends, 0);
        tear_down(&trial);
    }
}

/* The first address is 127.0.0.2, where nothing listens on the server's port. */
static void the_next_address_is_tried_if_the_first_one_refuses(void **state)
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
        cmocka_unit_test(both_clients_send_the_same_request),
        cmocka_unit_test(a_new_credential_is_used_at_once_and_the_old_one_stays_hidden),
        cmocka_unit_test(a_stale_connection_is_reported_unless_libcurl_replaces_it),
        cmocka_unit_test(a_server_that_closes_after_each_answer_gets_a_new_connection_each_time),
        cmocka_unit_test(a_connection_closed_between_requests_is_not_used_again),
        cmocka_unit_test(unexpected_bytes_after_an_answer_close_the_connection),
        cmocka_unit_test(an_exchange_can_be_cut_off),
        cmocka_unit_test(a_listener_that_returns_false_ends_the_exchange),
        cmocka_unit_test(a_long_prompt_arrives_completely),
        cmocka_unit_test(an_answer_that_arrives_before_the_whole_prompt_was_sent_is_read),
        cmocka_unit_test(a_refused_connection_is_reported),
        cmocka_unit_test(the_next_address_is_tried_if_the_first_one_refuses),
    };
    struct error error;

    if (!outbound_global_init(&error))
        return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    outbound_global_finish();
    return failed;
}
