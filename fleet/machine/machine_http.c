/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/machine/machine_http.h"

#include <stdio.h>
#include <string.h>

#include "base/core/memory.h"
#include "base/json/json.h"
#include "base/net/outbound.h"

#define USUAL_MS 5000
#define ANSWER_BYTES (4 << 20)
#define LINE_BYTES 65536
#define MESSAGE_BYTES 200

/* An answer with one JSON value on each line: {"status": "pulling"}\n{"status": "success"}\n */
struct lines {
    const struct machine_http *http;
    struct text line;
};

static void end_line(struct lines *lines)
{
    json_auto_t *value = NULL;
    struct error ignored;

    if (lines->line.length > 0
        && json_parse(text_string(&lines->line), lines->line.length, &value, &ignored))
        lines->http->on_line(lines->http->context, value);
    text_clear(&lines->line);
}

static bool on_bytes(void *context, const char *bytes, size_t length)
{
    struct lines *lines = context;

    for (size_t i = 0; i < length; i++)
        if (bytes[i] == '\n')
            end_line(lines);
        else if (lines->line.length < LINE_BYTES)
            text_add_char(&lines->line, bytes[i]);
    return true;
}

static bool is_stopped(void *context)
{
    const struct machine_http *http = ((struct lines *)context)->http;

    return http->stopped != NULL && http->stopped(http->context);
}

/* Reads {"message": ...} or {"error": {"message": ...}} from Docker, Podman and llama.cpp, and
 * {"error": ...} from Ollama. */
static CHECKED bool explain(const char *path, const struct machine_http_reply *reply,
                            struct error *error)
{
    const json_t *problem = json_object_get(reply->body, "error");
    const char *message =
        json_is_string(problem)
            ? json_string_value(problem)
            : json_get_text(problem, "message", json_get_text(reply->body, "message", ""));
    TEXT_AUTO shown = { 0 };

    text_add_printable(&shown, message, strlen(message), MESSAGE_BYTES);
    return error_set(error, reply->status == 404 ? ERROR_NOT_FOUND : ERROR_UPSTREAM,
                     "%.*s answered %ld%s%s", (int)strcspn(path, "?"), path, reply->status,
                     shown.length == 0 ? "" : ": ", text_string(&shown));
}

static CHECKED bool perform(const struct outbound_request *request, const char *path,
                            struct machine_http_reply *out, struct error *error)
{
    struct outbound_response response;
    struct error ignored;
    bool done = outbound_perform(request, &response, error);

    out->status = response.status;
    if (response.body.length > 0
        && !json_parse(text_string(&response.body), response.body.length, &out->body, &ignored))
        out->body = NULL;
    if (!done && response.status >= 300)
        done = explain(path, out, error);
    outbound_response_finish(&response);
    return done;
}

bool machine_http_call(const struct machine_http *http, const char *method, const char *path,
                       const json_t *body, struct machine_http_reply *out, struct error *error)
{
    struct lines lines = { .http = http };
    FREE_AUTO char *written = body == NULL ? NULL : json_write(body);
    TEXT_AUTO url = { 0 };
    bool done;

    text_addf(&url, "%s%s", http->base, path);
    const struct outbound_request request = {
        .method = method,
        .url = text_string(&url),
        .socket_path = http->socket[0] == '\0' ? NULL : http->socket,
        .bearer = http->bearer[0] == '\0' ? NULL : http->bearer,
        .body = written,
        .body_length = written == NULL ? 0 : strlen(written),
        .total_timeout_ms = http->timeout_ms > 0 ? http->timeout_ms : USUAL_MS,
        .response_limit_bytes = ANSWER_BYTES,
        .on_bytes = http->on_line == NULL ? NULL : on_bytes,
        .cancelled = is_stopped,
        .context = &lines,
    };
    *out = (struct machine_http_reply){ 0 };
    done = perform(&request, path, out, error);
    if (done && http->on_line != NULL)
        end_line(&lines);
    text_finish(&lines.line);
    return done;
}

void machine_http_finish(struct machine_http_reply *reply)
{
    json_decref(reply->body);
    *reply = (struct machine_http_reply){ 0 };
}

const char *machine_http_base(int64_t port, char out[64])
{
    snprintf(out, 64, "http://127.0.0.1:%d", (int)port);
    return out;
}
