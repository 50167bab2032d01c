/* SPDX-License-Identifier: Apache-2.0 */
#include "handlers/resource_answer.h"

#include "base/core/memory.h"
#include "handlers/call.h"

void resource_answer_add_json(const json_t *value, struct text *out)
{
    FREE_AUTO char *written = json_dumps(value, JSON_INDENT(2) | JSON_REAL_PRECISION(15));

    text_add(out, written);
    text_add_char(out, '\n');
}

bool resource_answer_of_tool_take(struct call *call, const char *tool, json_t *arguments_take,
                                  enum resource_form form, struct text *out, struct error *error)
{
    json_auto_t *arguments = arguments_take;
    const json_t *before = call->arguments;
    struct answer answer = { 0 };
    bool done;

    call->arguments = arguments;
    done = call_run(tool_find(tool), call, &answer, error);
    call->arguments = before;
    if (done && form == RESOURCE_JSON)
        resource_answer_add_json(answer.structured, out);
    else if (done)
        text_add_bytes(out, text_string(&answer.text), answer.text.length);
    answer_finish(&answer);
    return done;
}
