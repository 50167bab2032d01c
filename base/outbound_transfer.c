#include "base/outbound_transfer.h"

#include <string.h>

#include "base/json.h"
#include "base/outbound_code.h"

#define SHOWN_BYTES 240

enum failure transfer_classify(const struct transfer *transfer, CURLcode code)
{
    const struct outbound_response *response = transfer->response;

    if (transfer->stopped != FAILURE_NONE)
        return transfer->stopped;
    if (code != CURLE_OK && !transfer->enough)
        return outbound_failure_of_code(transfer->easy, code, response->sent_ns > 0);
    return failure_of_status(response->status, text_string(&response->body), response->body.length);
}

static enum error_kind kind_of(const struct transfer *transfer, CURLcode code)
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

/* "host:port" of a URL: nothing else of it may carry a secret into a log. */
static void describe_peer(const char *url, struct text *out)
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

/* {"error": {"message": ...}} of OpenAI and its likes, {"error": ...} of TGI and Ollama,
 * {"message": ...} of older vLLM, {"detail": ...} of FastAPI. */
static const char *find_sentence(const json_t *body)
{
    const char *sentence = json_get_text(json_object_get(body, "error"), "message", NULL);

    sentence = json_get_text(body, "error", sentence);
    sentence = json_get_text(body, "message", sentence);
    return json_get_text(body, "detail", sentence);
}

/* What an error's body says, for people. */
static void describe_body(const struct transfer *transfer, struct text *out)
{
    const struct text *body = &transfer->response->body;
    const char *sentence = NULL;
    json_auto_t *parsed = NULL;
    struct error ignored;

    if (body->length == 0)
        return;
    if (json_parse(body->data, body->length, &parsed, &ignored))
        sentence = find_sentence(parsed);
    text_add(out, ": ");
    if (sentence != NULL)
        text_add_printable(out, sentence, strlen(sentence), SHOWN_BYTES);
    else
        text_add_printable(out, body->data, body->length, SHOWN_BYTES);
}

static const char *describe_stop(const struct transfer *transfer)
{
    switch ((int)transfer->stopped) {
    case FAILURE_CANCELLED:
        return "the call was cancelled";
    case FAILURE_IDLE_TIMEOUT:
        return "nothing was received for the idle timeout";
    case FAILURE_PROTOCOL:
        return "the answer is larger than the limit";
    default:
        return "this machine has no memory for the call";
    }
}

static void describe_code(const struct transfer *transfer, CURLcode code, struct text *out)
{
    const char *detail = transfer->detail[0] != '\0' ? transfer->detail : curl_easy_strerror(code);

    text_add_printable(out, detail, strlen(detail), SHOWN_BYTES);
}

static void describe_status(const struct transfer *transfer, struct text *out)
{
    long status = transfer->response->status;

    text_addf(out, "the server answered %ld", status);
    if (status >= 300 && status < 400)
        text_add(out, "; redirects are not followed, name the final URL");
    else
        describe_body(transfer, out);
}

bool transfer_explain(const struct transfer *transfer, CURLcode code, struct error *error)
{
    enum failure failure = transfer->response->failure;
    TEXT_AUTO peer = { 0 };
    TEXT_AUTO what = { 0 };

    describe_peer(transfer->request->url, &peer);
    if (transfer->refused[0] != '\0' && transfer->unlisted && transfer->response->sent_ns == 0)
        return error_set(error, ERROR_FORBIDDEN,
                         "%s is at %s, which is not among the servers that the setting "
                         "allowed_servers names",
                         text_string(&peer), transfer->refused);
    if (transfer->refused[0] != '\0' && transfer->response->sent_ns == 0)
        return error_set(error, ERROR_FORBIDDEN,
                         "%s is at %s, an address of metadata, link-local or multicast, which no "
                         "deployment may have",
                         text_string(&peer), transfer->refused);
    if (transfer->stopped != FAILURE_NONE)
        text_add(&what, describe_stop(transfer));
    else if (code != CURLE_OK && !transfer->enough)
        describe_code(transfer, code, &what);
    else
        describe_status(transfer, &what);
    return error_set(error, kind_of(transfer, code), "%s: %s (%s)", text_string(&peer),
                     text_string(&what), failure_name(failure));
}
