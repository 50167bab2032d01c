/* SPDX-License-Identifier: Apache-2.0 */
/* Measures the load generator's ceiling on this machine, and tests the loopback server that is used
 * for it. */
#include "bench/cell/calibration.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/core/text.h"
#include "base/net/outbound.h"
#include "bench/cell/loopback_server.h"

static bool never(void *context)
{
    (void)context;
    return false;
}

static bool always(void *context)
{
    (void)context;
    return true;
}

static void the_loopback_server_streams_an_answer_to_each_request(void **state)
{
    struct loopback_server *server;
    struct error error;
    TEXT_AUTO url = { 0 }, body = { 0 };
    int port;

    (void)state;
    assert_true(loopback_server_create(&server, &port, &error));
    text_addf(&url, "http://127.0.0.1:%d/v1/completions", port);
    for (int i = 0; i < 40000; i++)
        text_add_char(&body, ' ');
    for (int i = 0; i < 3; i++) {
        struct outbound_response response;
        const struct outbound_request request = { .url = url.data,
                                                  .method = "POST",
                                                  .body = body.data,
                                                  .body_length = body.length,
                                                  .accept = "*/*",
                                                  .response_limit_bytes = 1 << 20 };

        if (!outbound_perform(&request, &response, &error))
            fail_msg("%s", error.message);
        assert_int_equal(response.status, 200);
        assert_non_null(strstr(response.body.data, "\"completion_tokens\":128"));
        assert_non_null(strstr(response.body.data, "data: [DONE]"));
        outbound_response_finish(&response);
    }
    loopback_server_destroy(server);
}

static void measures_the_ceiling_once(void **state)
{
    struct calibration *calibration = calibration_create();
    struct ceiling first, again;
    struct error error;

    (void)state;
    assert_true(calibration_get(calibration, never, NULL, &first, &error));
    assert_true(first.chunks_per_s > 1000);
    assert_true(first.streams > 0);
    assert_true(first.lag_p99_ms >= 0);
    assert_true(first.measured_ms > 0);
    assert_true(calibration_get(calibration, always, NULL, &again, &error));
    assert_memory_equal(&first, &again, sizeof first);
    calibration_destroy(calibration);
}

static void a_stopped_calibration_stores_no_ceiling(void **state)
{
    struct calibration *calibration = calibration_create();
    struct ceiling ceiling;
    struct error error;

    (void)state;
    assert_false(calibration_get(calibration, always, NULL, &ceiling, &error));
    assert_int_equal(error.kind, ERROR_CANCELLED);
    assert_true(calibration_get(calibration, never, NULL, &ceiling, &error));
    assert_true(ceiling.chunks_per_s > 1000);
    calibration_destroy(calibration);
}

int main(void)
{
    struct error error;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_loopback_server_streams_an_answer_to_each_request),
        cmocka_unit_test(measures_the_ceiling_once),
        cmocka_unit_test(a_stopped_calibration_stores_no_ceiling),
    };

    if (!outbound_global_init(&error))
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
