/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that fail, end early, or must not be made, and their error messages. Also tests that
 * proxies in the environment are not used. */
#include "tests/unit/support/outbound_trial.h"

static void ends_at_the_total_timeout(void **state)
{
    struct call call = { .request = { .total_timeout_ms = 300 } };
    int64_t start = clock_monotonic_ns();

    perform(&call, *state, "/never");
    assert_in_range(elapsed_ms(start), 290, 5000);
    assert_failed(&call, FAILURE_TOTAL_TIMEOUT, ERROR_TIMEOUT);
}

static void ends_when_a_stream_stalls(void **state)
{
    struct call call = { .request = { .idle_timeout_ms = 300 } };
    int64_t start = clock_monotonic_ns();

    perform(&call, *state, "/half");
    assert_in_range(elapsed_ms(start), 290, 5000);
    assert_string_equal(call.response.body.data, "hello");
    assert_failed(&call, FAILURE_IDLE_TIMEOUT, ERROR_TIMEOUT);
}

static void ends_when_no_first_byte_comes(void **state)
{
    struct call call = { .request = { .idle_timeout_ms = 300 } };

    perform(&call, *state, "/never");
    assert_int_equal(call.response.first_byte_ns, 0);
    assert_failed(&call, FAILURE_IDLE_TIMEOUT, ERROR_TIMEOUT);
}

/* A listener whose queue is full does not answer a SYN packet. */
static void ends_at_the_connect_timeout(void **state)
{
    struct sockaddr_in address = { .sin_family = AF_INET,
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    struct server full = { 0 };
    struct call call = { .request = { .connect_timeout_ms = 300 } };
    int fillers[4];

    (void)state;
    full.listener = bind_loopback(&full.port);
    assert_int_equal(listen(full.listener, 0), 0);
    address.sin_port = htons((uint16_t)full.port);
    for (int i = 0; i < 4; i++) {
        fillers[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
        assert_true(connect(fillers[i], (struct sockaddr *)&address, sizeof address) == 0
                    || errno == EINPROGRESS);
    }
    perform(&call, &full, "/ok");
    assert_int_equal(call.response.sent_ns, 0);
    assert_failed(&call, FAILURE_CONNECT_TIMEOUT, ERROR_TIMEOUT);
    for (int i = 0; i < 4; i++)
        close(fillers[i]);
    close(full.listener);
}

/* The number of calls of run_out, and the time of the first. From 200 ms after the first call,
 * run_out returns true. */
struct patience {
    int64_t first_ns;
    int asked;
};

static bool run_out(void *context)
{
    struct patience *patience = context;

    if (patience->asked++ == 0)
        patience->first_ns = clock_monotonic_ns();
    return elapsed_ms(patience->first_ns) >= 200;
}

static void ends_soon_after_it_is_cancelled(void **state)
{
    static const char *const paths[] = { "/never", "/half" };

    for (size_t i = 0; i < 2; i++) {
        struct patience patience = { 0 };
        struct call call = { .request = { .cancelled = run_out, .context = &patience } };
        int64_t start = clock_monotonic_ns();

        perform(&call, *state, paths[i]);
        assert_in_range(elapsed_ms(start), 200, 2000);
        assert_true(patience.asked >= 3);
        assert_failed(&call, FAILURE_CANCELLED, ERROR_CANCELLED);
    }
}

static bool at_once(void *context)
{
    (void)context;
    return true;
}

static void sends_nothing_when_already_cancelled(void **state)
{
    struct call call = { .request = { .cancelled = at_once } };

    perform(&call, *state, "/ok");
    assert_int_equal(call.response.sent_ns, 0);
    assert_failed(&call, FAILURE_CANCELLED, ERROR_CANCELLED);
}

static void distinguishes_broken_connections_from_refused_ones(void **state)
{
    static const char *const broken[] = { "/reset", "/nothing", "/cut", "/cut-chunks" };
    struct server closed = { 0 };
    struct call refused = { 0 };

    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        struct call call = { 0 };

        perform(&call, *state, broken[i]);
        assert_failed(&call, FAILURE_RESET, ERROR_UPSTREAM);
    }
    closed.listener = bind_loopback(&closed.port); /* bound, but not listening */
    perform(&refused, &closed, "/ok");
    assert_failed(&refused, FAILURE_CONNECT_REFUSED, ERROR_UPSTREAM);
    close(closed.listener);
}

static void reports_an_answer_in_an_unexpected_protocol(void **state)
{
    const struct server *server = *state;
    struct call garbage = { 0 }, tls = { 0 };

    perform(&garbage, server, "/garbage");
    assert_failed(&garbage, FAILURE_PROTOCOL, ERROR_UPSTREAM);
    snprintf(tls.url, sizeof tls.url, "https://127.0.0.1:%d/ok", server->port);
    tls.request.url = tls.url;
    tls.worked = outbound_perform(&tls.request, &tls.response, &tls.error);
    assert_failed(&tls, FAILURE_TLS, ERROR_UPSTREAM);
}

static void perform_url(struct call *call, const char *url)
{
    call->request.url = url;
    call->request.connect_timeout_ms = 2000;
    call->worked = outbound_perform(&call->request, &call->response, &call->error);
}

static void never_connects_to_forbidden_addresses(void **state)
{
    static const char *const urls[] = { "http://169.254.169.254/latest/meta-data",
                                        "http://2852039166/", "http://[::ffff:169.254.169.254]/",
                                        "http://[fd00:ec2::254]/", "http://0.0.0.0:1/" };

    (void)state;
    for (size_t i = 0; i < sizeof urls / sizeof *urls; i++) {
        struct call call = { .request = { .bearer = "s3cret" } };

        perform_url(&call, urls[i]);
        assert_says(&call, "no deployment may have");
        assert_int_equal(call.response.sent_ns, 0);
        assert_failed(&call, FAILURE_CONNECT_REFUSED, ERROR_FORBIDDEN);
    }
}

static void a_proxy_in_the_environment_is_not_used(void **state)
{
    struct call call = { 0 };

    setenv("http_proxy", "http://127.0.0.1:1", 1);
    setenv("ALL_PROXY", "http://127.0.0.1:1", 1);
    perform(&call, *state, "/ok");
    assert_true(call.worked);
    unsetenv("http_proxy");
    unsetenv("ALL_PROXY");
    outbound_response_finish(&call.response);
}

static void refuses_other_schemes_credentials_and_malformed_urls(void **state)
{
    static const char *const urls[] = {
        "file:///etc/passwd",    "ftp://127.0.0.1/", "gopher://127.0.0.1/",
        "http://a:b@127.0.0.1/", "http://[",         ""
    };

    (void)state;
    for (size_t i = 0; i < sizeof urls / sizeof *urls; i++) {
        struct call call = { 0 };

        perform_url(&call, urls[i]);
        assert_null(strstr(call.error.message, "a:b"));
        assert_failed(&call, FAILURE_PROTOCOL, ERROR_INVALID);
    }
}

static void a_name_that_does_not_resolve_is_reported(void **state)
{
    struct call call = { 0 };

    (void)state;
    perform_url(&call, "http://no-such-host.invalid:8000/v1");
    assert_says(&call, "no-such-host.invalid:8000: ");
    assert_false(call.worked);
    if (call.response.failure == FAILURE_CONNECT_TIMEOUT)
        skip(); /* no DNS resolver answers on this machine */
    assert_failed(&call, FAILURE_DNS, ERROR_UPSTREAM);
}

static void errors_never_show_the_bearer(void **state)
{
    struct call echo = { .request = { .bearer = "s3cret-t0ken" } };
    struct call broken = { .request = { .bearer = "s3cret\r\nX-Evil: 1" } };

    perform(&echo, *state, "/echo-as-error");
    assert_asked(*state, "Bearer s3cret-t0ken");
    assert_null(strstr(echo.error.message, "s3cret"));
    assert_failed(&echo, FAILURE_AUTH, ERROR_UPSTREAM);
    perform(&broken, *state, "/ok");
    assert_null(strstr(broken.error.message, "s3cret"));
    assert_int_equal(broken.response.sent_ns, 0);
    assert_failed(&broken, FAILURE_SEND, ERROR_INVALID);
}

static void advice_about_a_web_page_suggests_a_valid_url_with_the_same_host(void **state)
{
    static const char *const urls[][2] = { { "http://[::1]:9000", "http://[::1]:8000/v1" },
                                           { "http://gpu.lan:9000", "http://gpu.lan:8000/v1" },
                                           { "http://gpu.lan/ui", "try http://gpu.lan/v1" } };

    (void)state;
    for (size_t i = 0; i < sizeof urls / sizeof *urls; i++) {
        TEXT_AUTO advice = { 0 };

        outbound_advise_page(urls[i][0], &advice);
        assert_non_null(strstr(text_string(&advice), urls[i][1]));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(advice_about_a_web_page_suggests_a_valid_url_with_the_same_host),
        cmocka_unit_test(ends_at_the_total_timeout),
        cmocka_unit_test(ends_when_a_stream_stalls),
        cmocka_unit_test(ends_when_no_first_byte_comes),
        cmocka_unit_test(ends_at_the_connect_timeout),
        cmocka_unit_test(ends_soon_after_it_is_cancelled),
        cmocka_unit_test(sends_nothing_when_already_cancelled),
        cmocka_unit_test(distinguishes_broken_connections_from_refused_ones),
        cmocka_unit_test(reports_an_answer_in_an_unexpected_protocol),
        cmocka_unit_test(never_connects_to_forbidden_addresses),
        cmocka_unit_test(a_proxy_in_the_environment_is_not_used),
        cmocka_unit_test(refuses_other_schemes_credentials_and_malformed_urls),
        cmocka_unit_test(a_name_that_does_not_resolve_is_reported),
        cmocka_unit_test(errors_never_show_the_bearer),
    };

    return cmocka_run_group_tests(tests, start_server, stop_server);
}
