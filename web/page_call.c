/* SPDX-License-Identifier: Apache-2.0 */
#include "web/page_call.h"

static void no_progress(struct call *call, double progress, double total, const char *message)
{
    (void)call;
    (void)progress;
    (void)total;
    (void)message;
}

static CHECKED bool nobody_to_ask(struct call *call, const struct question *questions, size_t count,
                                  json_t **answers, struct error *error)
{
    (void)call;
    (void)questions;
    (void)count;
    (void)answers;
    return error_set(error, ERROR_UNSUPPORTED, "a page asks with its forms");
}

static void no_stream(struct call *call)
{
    (void)call;
}

static void no_log(struct call *call, enum severity severity, const char *logger, json_t *data)
{
    (void)call;
    (void)severity;
    (void)logger;
    json_decref(data);
}

static void report_change(const struct page_request *request, const struct tool *tool,
                          const struct call *call, const struct answer *answer)
{
    if (tool->changes_resources)
        request->changed(request->host, answer->changed[0] != '\0' ? answer->changed
                                                                   : call_text(call, "deployment"));
}

struct call page_call_make(const struct page_request *request)
{
    return (struct call){
        .services = request->services,
        .file = request->file,
        .file_bytes = request->file_bytes,
        .principal = request->principal,
        .change = { .actor = { .client = "page", .request_id = request->request_id } },
        .host = request->host,
        .progress = no_progress,
        .cancelled = request->cancelled,
        .ask = nobody_to_ask,
        .close_stream = no_stream,
        .log_take = no_log,
    };
}

bool page_call_take(const struct page_request *request, const char *name, json_t *arguments,
                    json_t **out, struct error *error)
{
    const struct tool *tool = tool_find(name);
    json_auto_t *given = arguments;
    struct answer answer = { 0 };
    struct call call = page_call_make(request);
    bool done;

    call.arguments = given;
    done = tool_call(tool, &call, &answer, error);
    if (done) {
        report_change(request, tool, &call, &answer);
        *out = json_incref(answer.structured);
    }
    answer_finish(&answer);
    return done;
}
