/* SPDX-License-Identifier: Apache-2.0 */
#include "web/page_call.h"

#include "base/json/json.h"
#include "handlers/call.h"

struct call page_call_make(const struct page_request *request)
{
    struct call call = {
        .services = request->services,
        .file = request->file,
        .file_bytes = request->file_bytes,
        .principal = request->principal,
        .change = { .actor = { .client = "page", .request_id = request->request_id } },
        .host = request->host,
        .cancelled = request->cancelled,
    };

    call_without_client(&call);
    return call;
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
        if (tool->changes_resources)
            request->changed(request->host, answer.changed);
        *out = json_incref(answer.structured);
    }
    answer_finish(&answer);
    return done;
}

bool page_call_answer_take(const struct page_request *request, const char *name, json_t *arguments,
                           struct page_answer *answer, struct error *error)
{
    json_auto_t *answered = NULL;

    if (!page_call_take(request, name, arguments, &answered, error))
        return false;
    answer->type = "application/json";
    json_add(&answer->body, answered);
    return true;
}
