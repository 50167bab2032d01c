/* SPDX-License-Identifier: Apache-2.0 */
#include "base/net/outbound_transfer.h"

#include <math.h>
#include <string.h>

#include "base/json/json.h"
#include "base/net/outbound_code.h"

#define SHOWN_BYTES 160 /* at most this many bytes of a message are quoted, so advice has room */

enum failure outbound_transfer_classify(const struct outbound_transfer *transfer, CURLcode code)
{
    const struct outbound_response *response = transfer->response;

    if (transfer->stopped != FAILURE_NONE)
        return transfer->stopped;
    if (code != CURLE_OK && !transfer->enough)
        return outbound_code_failure(transfer->easy, code, response->sent_ns > 0);
    return failure_of_status(response->status, text_string(&response->body), response->body.length);
}

static enum error_kind kind_of(const struct outbound_transfer *transfer, CURLcode code)
{
    if (code == CURLE_URL_MALFORMAT || code == CURLE_LOGIN_DENIED
        || (code == CURLE_UNSUPPORTED_PROTOCOL && transfer->response->sent_ns == 0))
        return ERROR_INVALID;
    switch ((int)transfer->response->failure) {
    case FAILURE_CONNECT_TIMEOUT:
    case FAILURE_IDLE_TIMEOUT:
    case FAILURE_TOTAL_TIMEOUT:
        return ERROR_TIMEOUT;
    case FAILURE_CANCELLED:
        return ERROR_CANCELLED;
    case FAILURE_CLIENT_LIMIT:
        return ERROR_BUSY;
    default:
        return ERROR_UPSTREAM;
    }
}

void outbound_transfer_describe_peer(const char *url, struct text *out)
{
    const char *authority = strstr(url, "://");
    const char *at;
    size_t length;

    authority = authority != NULL ? authority + 3 : url;
    length = strcspn(authority, "/?#");
    at = memrchr(authority, '@', length);
    if (at != NULL) {
        length -= (size_t)(at + 1 - authority);
        authority = at + 1;
    }
    text_add_printable(out, authority, length, SHOWN_BYTES / 2);
}

/* Appends the title of a web page. */
static void describe_page(const struct text *body, struct text *out)
{
    const char *title = strcasestr(text_string(body), "<title>");

    if (title == NULL)
        return;
    title += strlen("<title>");
    text_add(out, ": ");
    text_add_printable(out, title, strcspn(title, "<"), SHOWN_BYTES);
}

/* Appends what the body of an error answer says, in a form for users. */
static void describe_body(const struct outbound_transfer *transfer, struct text *out)
{
    const struct text *body = &transfer->response->body;
    const char *message = NULL;
    json_auto_t *parsed = NULL;
    struct error ignored;

    if (body->length == 0)
        return;
    if (outbound_is_page(transfer->response)) {
        describe_page(body, out);
        return;
    }
    if (json_parse(body->data, body->length, &parsed, &ignored))
        message = failure_message(parsed);
    text_add(out, ": ");
    if (message != NULL)
        text_add_printable(out, message, strlen(message), SHOWN_BYTES);
    else
        text_add_printable(out, body->data, body->length, SHOWN_BYTES);
}

static void describe_stop(const struct outbound_transfer *transfer, struct text *out)
{
    switch ((int)transfer->stopped) {
    case FAILURE_CANCELLED:
        text_add(out, "the call was cancelled");
        return;
    case FAILURE_IDLE_TIMEOUT:
        text_addf(out, "nothing was received for %.3g s",
                  (double)transfer->request->idle_timeout_ms / 1000);
        return;
    case FAILURE_PROTOCOL:
        text_addf(out, "the answer is larger than the limit of %zu bytes", transfer->limit_bytes);
        return;
    default:
        text_add(out, "this machine has too little memory for the call");
    }
}

static double or_usual_s(int64_t timeout_ms, double usual_s)
{
    return timeout_ms > 0 ? (double)timeout_ms / 1000 : usual_s;
}

static void describe_timeout(const struct outbound_transfer *transfer, struct text *out)
{
    const struct outbound_request *request = transfer->request;

    if (transfer->response->sent_ns == 0)
        text_addf(out, "no connection within %.3g s",
                  fmin(or_usual_s(request->connect_timeout_ms, OUTBOUND_CONNECT_MS / 1e3),
                       or_usual_s(request->total_timeout_ms, OUTBOUND_TOTAL_MS / 1e3)));
    else
        text_addf(out, "connected, but no %sanswer came within %.3g s",
                  transfer->response->first_byte_ns > 0 ? "complete " : "",
                  or_usual_s(request->total_timeout_ms, OUTBOUND_TOTAL_MS / 1e3));
}

static void describe_code(const struct outbound_transfer *transfer, CURLcode code, struct text *out)
{
    const char *detail = transfer->detail[0] != '\0' ? transfer->detail : curl_easy_strerror(code);

    text_add_printable(out, detail, strlen(detail), SHOWN_BYTES);
}

static void describe_status(const struct outbound_transfer *transfer, struct text *out)
{
    long status = transfer->response->status;
    const char *location = transfer->response->location;

    text_addf(out, "the server answered %ld", status);
    if (status >= 300 && status < 400)
        text_addf(out, "%s%s; redirects are not followed: use the final URL",
                  location[0] != '\0' ? " and redirects to " : "", location);
    else
        describe_body(transfer, out);
}

bool outbound_transfer_explain(const struct outbound_transfer *transfer, CURLcode code,
                               struct error *error)
{
    enum failure failure = transfer->response->failure;
    TEXT_AUTO peer = { 0 };
    TEXT_AUTO what = { 0 };
    TEXT_AUTO advice = { 0 };

    outbound_transfer_describe_peer(transfer->request->url, &peer);
    if (transfer->refused[0] != '\0' && transfer->unlisted && transfer->response->sent_ns == 0)
        return error_set(error, ERROR_FORBIDDEN,
                         "%s is at %s, which is not among the servers that the setting "
                         "allowed_servers names",
                         text_string(&peer), transfer->refused);
    if (transfer->refused[0] != '\0' && transfer->response->sent_ns == 0)
        return error_set(error, ERROR_FORBIDDEN,
                         "%s is at %s, a metadata, link-local, unspecified, multicast or reserved "
                         "address, which no deployment may have",
                         text_string(&peer), transfer->refused);
    if (transfer->stopped != FAILURE_NONE)
        describe_stop(transfer, &what);
    else if (code == CURLE_OPERATION_TIMEDOUT)
        describe_timeout(transfer, &what);
    else if (code != CURLE_OK && !transfer->enough)
        describe_code(transfer, code, &what);
    else
        describe_status(transfer, &what);
    outbound_transfer_advise(transfer, code, text_string(&peer), &advice);
    return error_set(error, kind_of(transfer, code), "%s: %s (%s)%s", text_string(&peer),
                     text_string(&what), failure_name(failure), text_string(&advice));
}
