/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/small_request.h"

#include <stdio.h>
#include <string.h>

#include "base/core/clock.h"
#include "base/json/json.h"
#include "base/net/outbound.h"

#define TIMEOUT_MS 5000
#define LIMIT_BYTES (4 << 20)
#define PATH_SIZE 64

struct small_request small_request_begin(const struct endpoint *endpoint, int64_t all_within_ms)
{
    return (struct small_request){ .endpoint = endpoint,
                                   .deadline_ns = clock_monotonic_ns() + all_within_ms * 1000000 };
}

static CHECKED bool perform(const struct small_request *ask, const char *path, const char *body,
                            struct outbound_response *response, struct error *error)
{
    const struct endpoint *endpoint = ask->endpoint;
    int64_t left_ms = (ask->deadline_ns - clock_monotonic_ns()) / 1000000;
    int64_t limit_ms = ask->each_within_ms > 0 ? ask->each_within_ms : TIMEOUT_MS;
    char url[sizeof endpoint->url + PATH_SIZE];
    struct outbound_request request = {
        .url = url,
        .bearer = endpoint->bearer[0] != '\0' ? endpoint->bearer : NULL,
        .servers = endpoint->servers,
        .tls = endpoint_tls(endpoint),
        .body = body,
        .body_length = body != NULL ? strlen(body) : 0,
        .accept = "*/*",
        .connect_timeout_ms = left_ms < TIMEOUT_MS ? left_ms : TIMEOUT_MS,
        .total_timeout_ms = left_ms < limit_ms ? left_ms : limit_ms,
        .response_limit_bytes = LIMIT_BYTES,
        .cancelled = ask->cancelled,
        .context = ask->context,
    };

    if (left_ms <= 0) {
        response->failure = FAILURE_TOTAL_TIMEOUT;
        return error_set(error, ERROR_TIMEOUT,
                         "too little time was left to request %s from the server (%s)", path,
                         failure_name(FAILURE_TOTAL_TIMEOUT));
    }
    snprintf(url, sizeof url, "%s%s", endpoint->url, path);
    return outbound_perform(&request, response, error);
}

/* Sets the error for an answer that arrived completely, but that json_parse refuses. */
static CHECKED bool refuse_answer(const struct small_request *ask, const char *path,
                                  const struct outbound_response *response, const char *problem,
                                  struct error *error)
{
    TEXT_AUTO url = { 0 };
    TEXT_AUTO advice = { 0 };

    text_addf(&url, "%s%s", ask->endpoint->url, path);
    if (outbound_is_page(response)) {
        problem = "it is not JSON";
        outbound_advise_page(text_string(&url), &advice);
    }
    return error_set(error, ERROR_UPSTREAM, "the answer to %s cannot be used: %s (%s)%s", path,
                     problem, failure_name(FAILURE_PROTOCOL), text_string(&advice));
}

bool small_request_json(const struct small_request *ask, const char *path, const char *body,
                        json_t **out, enum failure *failure, struct error *error)
{
    struct outbound_response response = { 0 };
    struct error problem;
    bool ok = perform(ask, path, body, &response, error);

    *failure = response.failure;
    if (ok && !json_parse(text_string(&response.body), response.body.length, out, &problem)) {
        *failure = FAILURE_PROTOCOL;
        ok = refuse_answer(ask, path, &response, problem.message, error);
    }
    outbound_response_finish(&response);
    return ok;
}

bool small_request_text(const struct small_request *ask, const char *path, struct text *out,
                        enum failure *failure, struct error *error)
{
    struct outbound_response response = { 0 };
    bool ok = perform(ask, path, NULL, &response, error);

    *failure = response.failure;
    if (ok)
        text_add_bytes(out, text_string(&response.body), response.body.length);
    outbound_response_finish(&response);
    return ok;
}
