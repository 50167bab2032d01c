/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/core/text.h"
#include "base/json/json.h"
#include "fleet/cloud/cloud_problem.h"

static struct cloud_problem read_problem(long status, const char *text)
{
    json_auto_t *body = json_loads(text, 0, NULL);
    struct cloud_problem problem;

    cloud_problem_read(status, body, &problem);
    return problem;
}

static void check(long status, const char *body, const char *kind, const char *part)
{
    struct cloud_problem problem = read_problem(status, body);

    assert_string_equal(problem.kind, kind);
    if (strstr(problem.message, part) == NULL)
        fail_msg("got the message \"%s\", expected it to contain \"%s\"", problem.message, part);
}

static void test_googles_errors_are_read_with_their_details_and_known_fixes(void **state)
{
    (void)state;
    check(403,
          "{\"error\":{\"code\":403,\"message\":\"Cloud Run Admin API has not been used\","
          "\"status\":\"PERMISSION_DENIED\",\"details\":[{\"@type\":\"type.googleapis.com/"
          "google.rpc.ErrorInfo\",\"reason\":\"SERVICE_DISABLED\",\"metadata\":{\"service\":"
          "\"run.googleapis.com\"}}]}}",
          "SERVICE_DISABLED", "gcloud services enable run.googleapis.com");
    check(403,
          "{\"error\":{\"code\":403,\"message\":\"denied\",\"status\":\"PERMISSION_DENIED\","
          "\"details\":[{\"@type\":\"type.googleapis.com/google.rpc.ErrorInfo\",\"reason\":"
          "\"IAM_PERMISSION_DENIED\",\"metadata\":{\"permission\":\"run.services.create\"}}]}}",
          "IAM_PERMISSION_DENIED", "lacks the permission run.services.create");
    check(400,
          "{\"error\":{\"code\":400,\"message\":\"bad\",\"status\":\"INVALID_ARGUMENT\","
          "\"details\":[{\"@type\":\"type.googleapis.com/google.rpc.BadRequest\","
          "\"fieldViolations\":[{\"field\":\"service.template\",\"description\":\"too many\"}]}]}}",
          "INVALID_ARGUMENT", "service.template: too many");
    check(400, "{\"error\":\"invalid_grant\",\"error_description\":\"Invalid JWT\"}",
          "invalid_grant", "clock is wrong");
    check(400,
          "{\"error\":{\"code\":400,\"message\":\"Max instances must be set to 0 or fewer. Quota "
          "violated: CpuAllocPerProjectRegion requested: 60000 allowed: 20000\"}}",
          "", "CpuAllocPerProjectRegion (thousandths");
}

static void test_errors_from_operations_are_read_and_grpc_codes_are_converted(void **state)
{
    (void)state;
    check(200, "{\"error\":{\"code\":8,\"message\":\"Quota exceeded for GPUs\"}}",
          "RESOURCE_EXHAUSTED", "Quota exceeded");
    check(200,
          "{\"error\":{\"errors\":[{\"code\":\"ZONE_RESOURCE_POOL_EXHAUSTED\",\"message\":"
          "\"no capacity\"}]}}",
          "ZONE_RESOURCE_POOL_EXHAUSTED", "no capacity");
    assert_int_equal(cloud_problem_status_of_code(5), 404);
    assert_int_equal(cloud_problem_status_of_code(99), 500);
    assert_int_equal(cloud_problem_status_of_code(-1), 500);
}

static void test_kubernetes_status_is_read_with_its_causes(void **state)
{
    (void)state;
    check(422,
          "{\"kind\":\"Status\",\"reason\":\"Invalid\",\"message\":\"Deployment is invalid\","
          "\"details\":{\"causes\":[{\"reason\":\"FieldValueInvalid\",\"field\":"
          "\"spec.replicas\",\"message\":\"must be at least 0\"}]},\"code\":422}",
          "Invalid", "spec.replicas: must be at least 0");
    assert_int_equal(read_problem(429, "{\"kind\":\"Status\",\"details\":{\"retryAfterSeconds\":"
                                       "7}}")
                         .retry_after_s,
                     7);
}

static void test_waits_are_read_and_limited(void **state)
{
    static const struct {
        const char *delay;
        int64_t seconds;
    } rows[] = { { "30s", 30 }, { "1.5s", 2 },  { "0s", 0 }, { "99999999s", 3600 },
                 { "-3s", -1 }, { "nans", -1 }, { "x", -1 }, { "", -1 } };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        json_auto_t *body =
            json_pack("{s:{s:s, s:[{s:s, s:s}]}}", "error", "message", "m", "details", "@type",
                      "x.RetryInfo", "retryDelay", rows[i].delay);
        struct cloud_problem problem;

        cloud_problem_read(429, body, &problem);
        assert_int_equal(problem.retry_after_s, rows[i].seconds);
    }
}

static void test_untrusted_text_is_truncated_and_made_printable(void **state)
{
    char message[20000];
    json_auto_t *body = NULL;
    struct cloud_problem problem;

    (void)state;
    memset(message, 'a', sizeof message - 1);
    message[sizeof message - 1] = '\0';
    message[3] = '\x1b';
    body = json_pack("{s:{s:s, s:s}}", "error", "message", message, "status", message);
    cloud_problem_read(500, body, &problem);
    assert_true(strlen(problem.message) < 400);
    assert_null(strchr(problem.message, '\x1b'));
    assert_string_equal(problem.kind, "");
    cloud_problem_read(502, NULL, &problem);
    assert_string_equal(problem.message, "HTTP status 502 without a reason");
}

static void test_the_verdict_depends_on_status_body_and_kind_of_request(void **state)
{
    static const char without_reason[] = "{\"kind\":\"Status\",\"code\":500,\"message\":\"failed "
                                         "to create typed patch object\"}";
    static const char with_reason[] = "{\"kind\":\"Status\",\"code\":500,\"reason\":"
                                      "\"InternalError\"}";
    static const char rate_exceeded[] =
        "{\"error\":{\"errors\":[{\"reason\":\"rateLimitExceeded\"}]}}";
    static const char quota_exceeded[] =
        "{\"error\":{\"errors\":[{\"reason\":\"quotaExceeded\"}]}}";
    static const struct {
        long status;
        const char *body;
        enum cloud_verdict reading, changing;
    } rows[] = {
        { 200, NULL, CLOUD_DONE, CLOUD_DONE },
        { 204, NULL, CLOUD_DONE, CLOUD_DONE },
        { 302, NULL, CLOUD_REFUSED, CLOUD_REFUSED },
        { 400, NULL, CLOUD_REFUSED, CLOUD_REFUSED },
        { 401, NULL, CLOUD_REFUSED, CLOUD_REFUSED },
        { 403, NULL, CLOUD_REFUSED, CLOUD_REFUSED },
        { 403, rate_exceeded, CLOUD_AGAIN, CLOUD_AGAIN },
        { 403, quota_exceeded, CLOUD_REFUSED, CLOUD_REFUSED },
        { 404, NULL, CLOUD_REFUSED, CLOUD_REFUSED },
        { 409, NULL, CLOUD_REFUSED, CLOUD_REFUSED },
        { 429, NULL, CLOUD_AGAIN, CLOUD_AGAIN },
        { 500, NULL, CLOUD_AGAIN, CLOUD_LOST },
        { 500, with_reason, CLOUD_AGAIN, CLOUD_LOST },
        { 500, without_reason, CLOUD_REFUSED, CLOUD_REFUSED },
        { 502, NULL, CLOUD_AGAIN, CLOUD_LOST },
        { 503, NULL, CLOUD_AGAIN, CLOUD_LOST },
        { 504, NULL, CLOUD_AGAIN, CLOUD_LOST },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        json_auto_t *body = rows[i].body != NULL ? json_loads(rows[i].body, 0, NULL) : NULL;

        assert_int_equal(cloud_problem_judge(rows[i].status, body, true), rows[i].reading);
        assert_int_equal(cloud_problem_judge(rows[i].status, body, false), rows[i].changing);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_googles_errors_are_read_with_their_details_and_known_fixes),
        cmocka_unit_test(test_errors_from_operations_are_read_and_grpc_codes_are_converted),
        cmocka_unit_test(test_kubernetes_status_is_read_with_its_causes),
        cmocka_unit_test(test_waits_are_read_and_limited),
        cmocka_unit_test(test_untrusted_text_is_truncated_and_made_printable),
        cmocka_unit_test(test_the_verdict_depends_on_status_body_and_kind_of_request),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
