/* SPDX-License-Identifier: Apache-2.0 */
#include "base/llm/completion_stream.h"

#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/core/memory.h"
#include "base/core/random.h"
#include "base/core/text.h"
#include "base/llm/completion_scan.h"

/* The events of a stream, in a form that can be compared: one line per event. */
static void write_event(void *context, const struct completion_event *event)
{
    struct text *out = context;

    text_addf(out, "%s%s%s%s%s", event->done ? "done " : "", event->error ? "error " : "",
              event->has_content ? "content " : "", event->has_reasoning ? "reasoning " : "",
              event->has_tool_call ? "call " : "");
    if (event->has_finish)
        text_addf(out, "finish=%s ", event->finish);
    if (event->has_usage)
        text_addf(out, "usage=%ld,%ld,%ld ", event->prompt_tokens, event->completion_tokens,
                  event->cached_tokens);
    if (event->reasoning_tokens >= 0)
        text_addf(out, "thought=%ld ", event->reasoning_tokens);
    if (event->token_ids >= 0)
        text_addf(out, "ids=%ld ", event->token_ids);
    if (event->text != NULL)
        text_addf(out, "[%.*s]", (int)event->text_length, event->text);
    if (event->reasoning != NULL)
        text_addf(out, "<%.*s>", (int)event->reasoning_length, event->reasoning);
    text_add_char(out, '\n');
}

/* All of `bytes` in pieces of `piece` bytes; "broken\n" at the end if the stream broke. */
static void read_in_pieces(const char *bytes, size_t length, size_t piece, bool want_text,
                           struct text *out)
{
    struct completion_stream *stream = completion_stream_create(want_text);
    bool good = true;

    for (size_t at = 0; at < length && good; at += piece) {
        size_t count = length - at < piece ? length - at : piece;
        char *copy = memory_zeroed(count, 1); /* so that reading beyond it is seen */

        memcpy(copy, bytes + at, count);
        good = completion_stream_feed(stream, copy, count, write_event, out);
        free(copy);
    }
    if (!good || !completion_stream_end(stream, write_event, out))
        text_add(out, "broken\n");
    completion_stream_destroy(stream);
}

static void expect(const char *bytes, const char *events)
{
    for (size_t piece = 1; piece <= strlen(bytes); piece++) {
        TEXT_AUTO out = { 0 };

        read_in_pieces(bytes, strlen(bytes), piece, true, &out);
        assert_string_equal(text_string(&out), events);
    }
}

static void counts_no_token_for_role_and_empty_chunks(void **state)
{
    (void)state;
    expect("data: {\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}\n\n", "\n");
    expect("data: {\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":null}}]}\n\n", "\n");
    expect("data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n", "finish=stop \n");
    expect("data: {\"choices\":[{\"text\":\"\",\"finish_reason\":\"length\"}]}\n\n",
           "finish=length \n");
}

static void takes_content_of_both_apis(void **state)
{
    (void)state;
    expect("data: {\"choices\":[{\"index\":0,\"text\":\" a\",\"finish_reason\":null}]}\n\n",
           "content [ a]\n");
    expect("data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"b\"}}]}\n\n",
           "content [b]\n");
    expect("data: { \"choices\" : [ { \"delta\" : { \"content\" : \"\\u00e9\\n\" } } ] }\n\n",
           "content [\xc3\xa9\n]\n");
}

static void takes_reasoning_under_either_name_and_tool_arguments(void **state)
{
    (void)state;
    expect("data: {\"choices\":[{\"delta\":{\"reasoning\":\"x\"}}]}\n\n", "reasoning <x>\n");
    expect("data: {\"choices\":[{\"delta\":{\"reasoning_content\":\"x\",\"content\":null}}]}\n\n",
           "reasoning <x>\n");
    expect("data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"function\":{\"arguments\":\"{\"}}"
           "]}}]}\n\n",
           "call \n");
    expect("data: {\"choices\":[{\"delta\":{\"function_call\":{\"arguments\":\"{\"}}}]}\n\n",
           "call \n");
    expect("data: {\"choices\":[{\"delta\":{\"refusal\":\"no\"}}]}\n\n", "content [no]\n");
    expect("data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"function\":{\"name\":\"f\","
           "\"arguments\":\"\"}}]}}]}\n\n",
           "\n");
    expect("data: {\"choices\":[{\"delta\":{\"reasoning\":\"x\",\"content\":\"y\"}}]}\n\n",
           "content reasoning [y]<x>\n");
}

static void takes_content_that_is_a_list_of_parts(void **state)
{
    (void)state;
    expect(
        "data: {\"choices\":[{\"delta\":{\"content\":[{\"type\":\"text\",\"text\":\"b\"}]}}]}\n\n",
        "content [b]\n");
    expect("data: {\"choices\":[{\"delta\":{\"content\":[{\"type\":\"thinking\",\"thinking\":"
           "[{\"type\":\"text\",\"text\":\"x\"}]}]}}]}\n\n",
           "reasoning <x>\n");
    expect("data: {\"choices\":[{\"delta\":{\"content\":[{\"type\":\"reasoning\",\"summary\":"
           "[{\"text\":\"x\"}]},{\"type\":\"text\",\"text\":\"b\"}]}}]}\n\n",
           "content reasoning [b]<x>\n");
    expect("data: {\"choices\":[{\"delta\":{\"content\":[]}}]}\n\n", "\n");
    expect("data: {\"choices\":[{\"delta\":{\"content\":[1,{\"text\":\"\"}]}}]}\n\n", "\n");
}

static void an_empty_finish_reason_counts_as_none(void **state)
{
    (void)state;
    expect("data: {\"choices\":[{\"delta\":{\"content\":\"b\"},\"finish_reason\":\"\"}]}\n\n",
           "content [b]\n");
    expect("data: {\"choices\":[{\"text\":\"b\",\"finish_reason\" : \"\" }]}\n\n", "content [b]\n");
}

static void takes_usage_from_any_chunk(void **state)
{
    (void)state;
    expect("data: {\"choices\":[],\"usage\":{\"prompt_tokens\":7,\"completion_tokens\":3,"
           "\"prompt_tokens_details\":{\"cached_tokens\":2}}}\n\n",
           "usage=7,3,2 \n");
    expect("data: {\"choices\":[{\"text\":\"a\"}],\"usage\":{\"prompt_tokens\":7,"
           "\"completion_tokens\":1}}\n\n",
           "content usage=7,1,-1 [a]\n");
    expect("data: {\"choices\":[{\"text\":\"a\"}],\"usage\":null}\n\n", "content [a]\n");
    expect(
        "data: {\"choices\":[],\"timings\":{\"prompt_n\":5,\"cache_n\":2,\"predicted_n\":9}}\n\n",
        "usage=7,9,2 \n");
    expect("data: {\"usage\":{\"prompt_tokens\":7,\"prompt_tokens_details\":null}}\n\n",
           "usage=7,-1,-1 \n");
    expect("data: {\"usage\":{\"prompt_tokens\":7,\"completion_tokens\":null}}\n\n",
           "usage=7,-1,-1 \n");
    expect("data: {\"usage\":null,\"x_groq\":{\"usage\":{\"completion_tokens\":4}}}\n\n",
           "usage=-1,4,-1 \n");
    expect("data: {\"x_groq\":{\"id\":\"r\"},\"choices\":[{\"text\":\"a\"}]}\n\n", "content [a]\n");
    expect("data: {\"choices\":[{\"text\":\"\",\"usage\":{\"completion_tokens\":4}}]}\n\n",
           "usage=-1,4,-1 \n");
}

static void counts_reasoning_tokens_separately(void **state)
{
    (void)state;
    expect("data: {\"usage\":{\"completion_tokens\":9,\"completion_tokens_details\":"
           "{\"reasoning_tokens\":5}}}\n\n",
           "usage=-1,9,-1 thought=5 \n");
    expect("data: {\"usage\":{\"completion_tokens\":9,\"reasoning_tokens\":4}}\n\n",
           "usage=-1,9,-1 thought=4 \n");
    expect("data: {\"usage\":{\"reasoning_tokens\":4,\"completion_tokens_details\":"
           "{\"reasoning_tokens\":5}}}\n\n",
           "usage=-1,-1,-1 thought=5 \n");
    expect("data: {\"usage\":{\"completion_tokens_details\":{\"reasoning_tokens\":5},"
           "\"reasoning_tokens\":4}}\n\n",
           "usage=-1,-1,-1 thought=5 \n");
}

static void counts_listed_token_ids(void **state)
{
    (void)state;
    expect("data: {\"choices\":[{\"text\":\"ab\",\"token_ids\":[5,6,7]}]}\n\n",
           "content ids=3 [ab]\n");
    expect("data: {\"choices\":[{\"text\":\"ab\",\"token_ids\":null}]}\n\n", "content [ab]\n");
}

static void sees_errors_inside_the_stream(void **state)
{
    (void)state;
    expect("data: {\"error\":{\"message\":\"out of blocks\",\"code\":500}}\n\n",
           "error [out of blocks]\n");
    expect("data: {\"error\":\"plain\"}\n\n", "error [plain]\n");
    expect("data: {\"object\":\"error\",\"message\":\"older\",\"code\":400}\n\n",
           "error [older]\n");
    expect("event: error\ndata: {\"message\":\"named\"}\n\n", "error [named]\n");
    expect("event: error\ndata: not json\n\n", "error [not json]\n");
    expect("error: {\"message\":\"llama\",\"code\":500}\n\n", "error [llama]\n");
    expect("data: {\"error\":{\"code\":1}}\n\n", "error [{\"code\":1}]\n");
    expect("data: {\"error\":null,\"choices\":[{\"text\":\"a\"}]}\n\n", "content [a]\n");
    expect("event: error\ndata: {\"message\":\"a\"}\n\ndata: {\"choices\":[{\"text\":\"b\"}]}\n\n",
           "error [a]\ncontent [b]\n");
}

static void sees_done_with_and_without_blanks(void **state)
{
    (void)state;
    expect("data: [DONE]\n\n", "done \n");
    expect("data:[DONE]\n\n", "done \n");
    expect("data:   [DONE]  \r\n\r\n", "done \n");
    expect("data: [DONE]", "done \n"); /* the server closed without a line end */
}

static void ignores_comments_and_other_fields(void **state)
{
    (void)state;
    expect(": ping\n\n: ping\r\n\r\nid: 7\nretry: 10\nevent: message\nx\n"
           "data: {\"choices\":[{\"text\":\"a\"}]}\n\n",
           "content [a]\n");
    expect("\xef\xbb\xbf"
           "data: [DONE]\n\n",
           "done \n");
    expect("data:\n\ndata: \n\n", "");
}

static void takes_crlf_and_no_space(void **state)
{
    (void)state;
    expect("data:{\"choices\":[{\"text\":\"a\"}]}\r\n\r\ndata:[DONE]\r\n\r\n",
           "content [a]\ndone \n");
}

static void a_stream_is_known_by_how_it_begins(void **state)
{
    static const char *const streams[] = { "data: {}",
                                           "d",
                                           ": ping",
                                           "event: message",
                                           "id: 1",
                                           "\n:",
                                           "\xef\xbb\xbf"
                                           "data:" };
    static const char *const others[] = { "", "{\"data\":1}", "<html>", "date", "\n", "internal" };

    (void)state;
    for (size_t i = 0; i < sizeof streams / sizeof *streams; i++)
        assert_true(completion_stream_begins(streams[i], strlen(streams[i])));
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_false(completion_stream_begins(others[i], strlen(others[i])));
}

static void joins_data_lines_of_one_event(void **state)
{
    (void)state;
    expect("data: {\"choices\":\ndata: [{\"text\":\"a\"}]}\n\ndata: [DONE]\n\n",
           "content [a]\ndone \n");
}

static void is_not_fooled_by_text_that_looks_like_json(void **state)
{
    (void)state;
    expect("data: {\"choices\":[{\"text\":\"\\\"usage\\\":{\\\"prompt_tokens\\\":1}\"}]}\n\n",
           "content [\"usage\":{\"prompt_tokens\":1}]\n");
    expect("data: {\"choices\":[{\"text\":\"{\\\"error\\\":\"}],\"x\":{\"error\":{}}}\n\n",
           "content [{\"error\":]\n");
    expect("data: {\"id\":\"\\\",\\\"choices\\\":[\",\"choices\":[{\"delta\":{\"role\":\"a\"},"
           "\"logprobs\":{\"content\":\"no\"}}]}\n\n",
           "\n");
    expect("data: {\"content\":\"no\",\"delta\":{\"content\":\"no\"},\"choices\":[]}\n\n", "\n");
}

static void allows_any_character_a_model_may_write(void **state)
{
    (void)state;
    expect("data: {\"choices\":[{\"text\":\"a\xff\"}]}\n\n", "content [a\xef\xbf\xbd]\n");
    expect("data: {\"choices\":[{\"text\":\"\\ud83d\\ude00\"}]}\n\n",
           "content [\xf0\x9f\x98\x80]\n");

    TEXT_AUTO out = { 0 };
    const char nul[] = "data: {\"choices\":[{\"text\":\"\\u0000\"}]}\n\n";
    read_in_pieces(nul, sizeof nul - 1, 7, false, &out);
    assert_string_equal(text_string(&out), "content \n");
}

static void breaks_on_what_is_not_json(void **state)
{
    (void)state;
    expect("data: {\"choices\":[\n\ndata: [DONE]\n\n", "broken\n");
    expect("data: hello\n\n", "broken\n");
    expect("data: {\"choices\":[{\"text\":\"a\"}]} x\n\n", "broken\n");
}

static void breaks_beyond(bool want_text, size_t limit)
{
    struct completion_stream *stream = completion_stream_create(want_text);
    char bytes[4096];
    TEXT_AUTO out = { 0 };
    bool good = true;
    size_t fed = 0;

    memset(bytes, 'x', sizeof bytes);
    for (; good && fed < 2 << 20; fed += sizeof bytes)
        good = completion_stream_feed(stream, bytes, sizeof bytes, write_event, &out);
    assert_false(good);
    assert_true(fed > limit && fed <= limit + 2 * sizeof bytes);
    completion_stream_reset(stream);
    assert_true(completion_stream_feed(stream, "data: [DONE]\n", 13, write_event, &out));
    assert_string_equal(text_string(&out), "done \n");
    completion_stream_destroy(stream);
}

static void breaks_on_an_event_without_end(void **state)
{
    (void)state;
    breaks_beyond(true, 1 << 20);
    breaks_beyond(false, 1 << 16);
}

static void bounds_events_of_many_data_lines(void **state)
{
    struct completion_stream *stream = completion_stream_create(false);
    TEXT_AUTO out = { 0 };
    bool good = true;

    (void)state;
    for (int i = 0; good && i < 3 << 20; i++)
        good = completion_stream_feed(stream, "data: {\n", 8, write_event, &out);
    assert_false(good);
    completion_stream_destroy(stream);
}

/* ---- The same as the JSON library, on whatever may come -------------------------------------- */

/* An independent reading of one event, by the library alone. */
static void reference_choice(const json_t *choice, struct completion_event *event)
{
    const json_t *delta = json_object_get(choice, "delta"), *call;
    const json_t *texts[] = { json_object_get(choice, "text"), json_object_get(delta, "content") };
    const json_t *thoughts[] = { json_object_get(delta, "reasoning"),
                                 json_object_get(delta, "reasoning_content") };
    const json_t *finish = json_object_get(choice, "finish_reason");
    size_t i;

    for (i = 0; i < 2; i++) {
        event->has_content |= json_string_length(texts[i]) > 0;
        event->has_reasoning |= json_string_length(thoughts[i]) > 0;
    }
    json_array_foreach(json_object_get(delta, "tool_calls"), i, call)
        event->has_tool_call |=
            json_string_length(json_object_get(json_object_get(call, "function"), "arguments")) > 0;
    if (json_string_length(finish) > 0) {
        event->has_finish = true;
        snprintf(event->finish, sizeof event->finish, "%s", json_string_value(finish));
    }
}

static int64_t reference_count(const json_t *object, const char *name)
{
    const json_t *count = json_object_get(object, name);

    return json_is_integer(count) && json_integer_value(count) >= 0 ? json_integer_value(count)
                                                                    : -1;
}

static void reference(const char *bytes, size_t length, struct text *out)
{
    json_error_t problem;
    json_auto_t *json = json_loadb(bytes, length, JSON_ALLOW_NUL, &problem);
    const json_t *usage = json_object_get(json, "usage"), *choice, *details;
    const json_t *error = json_object_get(json, "error");
    struct completion_event event;
    size_t i;

    if (json == NULL) {
        text_add(out, "broken\n");
        return;
    }
    completion_scan_clear(&event);
    event.error = (error != NULL && !json_is_null(error) && !json_is_false(error))
                  || (json_is_string(json_object_get(json, "object"))
                      && strcmp(json_string_value(json_object_get(json, "object")), "error") == 0);
    if (event.error) {
        text_add(out, "error");
        return;
    }
    json_array_foreach(json_object_get(json, "choices"), i, choice)
        reference_choice(choice, &event);
    if (!json_is_object(usage))
        usage = json_object_get(json_array_get(json_object_get(json, "choices"), 0), "usage");
    if (json_is_object(usage)) {
        event.has_usage = true;
        details = json_object_get(usage, "prompt_tokens_details");
        event.prompt_tokens = reference_count(usage, "prompt_tokens");
        event.completion_tokens = reference_count(usage, "completion_tokens");
        event.cached_tokens = reference_count(details, "cached_tokens");
        event.reasoning_tokens = reference_count(usage, "reasoning_tokens");
    }
    write_event(out, &event);
}

static const char *pick(struct generator *generator, const char *const *choices)
{
    size_t count = 0;

    while (choices[count] != NULL)
        count++;
    return choices[generator_below(generator, count)];
}

static void add_blanks(struct generator *generator, struct text *out)
{
    static const char *const blanks[] = { "", "", "", "", " ", "  ", "\t", NULL };

    text_add(out, pick(generator, blanks));
}

static void add_string(struct generator *generator, struct text *out)
{
    static const char *const pieces[] = {
        "",
        "a",
        " the",
        "\\n",
        "\\\"",
        "\\\\",
        "\\u00e9",
        "\\u0000",
        "\\ud83d\\ude00",
        "\\ud83d",
        "\xc3\xa9",
        "\xe2\x82\xac",
        "{",
        "}",
        "[",
        "]",
        ":",
        ",",
        "\\\"usage\\\":{",
        "[DONE]",
        "\\\"error\\\":{\\\"message\\\":\\\"",
        "data: ",
        "\\\"finish_reason\\\":\\\"stop\\\"",
        "\\\"content\\\":\\\"x",
        "\\/",
        "\x7f",
        "\x01",
        "\\x",
        "null",
        NULL,
    };

    text_add_char(out, '"');
    for (uint64_t i = generator_below(generator, 4); i > 0; i--) {
        const char *piece = pick(generator, pieces);

        if ((piece[0] == '\x01' || strcmp(piece, "\\x") == 0 || strcmp(piece, "\\ud83d") == 0)
            && generator_below(generator, 10) != 0)
            piece = "b"; /* malformed ones rarely, or nothing else would remain */
        text_add(out, piece);
    }
    text_add_char(out, '"');
}

static void add_value(struct generator *generator, struct text *out, int depth);

static void add_members(struct generator *generator, struct text *out, int depth)
{
    static const char *const names[] = {
        "id",         "object",        "created", "model",   "choices",   "usage",
        "error",      "delta",         "content", "text",    "reasoning", "finish_reason",
        "tool_calls", "index",         "role",    "message", "logprobs",  "function",
        "arguments",  "prompt_tokens", "x",       NULL,
    };
    unsigned used = 0;

    for (uint64_t i = generator_below(generator, 4); i > 0; i--) {
        unsigned which = (unsigned)generator_below(generator, 21);

        if ((used & 1U << which) != 0)
            continue;
        if (used != 0)
            text_add_char(out, ',');
        used |= 1U << which;
        text_addf(out, "\"%s\":", names[which]);
        add_value(generator, out, depth + 1);
    }
}

static void add_value(struct generator *generator, struct text *out, int depth)
{
    static const char *const plain[] = {
        "null",  "null",
        "true",  "false",
        "0",     "-1",
        "17",    "1.5",
        "1e3",   "123456789012345678",
        "01",    "1.",
        "nul",   "9999999999999999999999",
        "1e999", "-",
        NULL,
    };
    uint64_t kind = generator_below(generator, depth > 5 ? 4 : 8);

    add_blanks(generator, out);
    if (kind < 2) {
        const char *value = pick(generator, plain);

        text_add(out, generator_below(generator, 4) == 0 ? value : "5");
    } else if (kind < 4) {
        add_string(generator, out);
    } else if (kind < 6) {
        text_add_char(out, '{');
        add_members(generator, out, depth);
        text_add_char(out, '}');
    } else {
        text_add_char(out, '[');
        for (uint64_t i = generator_below(generator, 3); i > 0; i--) {
            add_value(generator, out, depth + 1);
            if (i > 1)
                text_add_char(out, ',');
        }
        text_add_char(out, ']');
    }
    add_blanks(generator, out);
}

/* A chunk much as servers send it, with each part occasionally something else. */
struct part {
    const char *name;
    const char *values[8];
};

static void add_part(struct generator *generator, struct text *out, const struct part *part)
{
    if (out->data[out->length - 1] != '{')
        text_add_char(out, ',');
    add_blanks(generator, out);
    text_addf(out, "\"%s\"", part->name);
    add_blanks(generator, out);
    text_add_char(out, ':');
    add_blanks(generator, out);
    if (generator_below(generator, 12) == 0)
        add_value(generator, out, 2);
    else if (part->values[0] == NULL)
        add_string(generator, out);
    else
        text_add(out, pick(generator, part->values));
    add_blanks(generator, out);
}

static void add_parts(struct generator *generator, struct text *out, const struct part *parts,
                      size_t count)
{
    size_t first = generator_below(generator, count);

    text_add_char(out, '{');
    for (size_t i = 0; i < count; i++)
        if (generator_below(generator, 3) != 0)
            add_part(generator, out, &parts[(first + i) % count]);
    text_add_char(out, '}');
}

static void add_choice(struct generator *generator, struct text *out)
{
    static const struct part delta[] = {
        { "role", { "\"assistant\"", "null" } },
        { "content", { NULL } },
        { "reasoning", { "null", "\"\"", "\"hm\"" } },
        { "reasoning_content", { "null", "\"\"" } },
        { "tool_calls", { "null", "[]", "[{\"function\":{\"arguments\":\"{\"}}]" } },
    };
    static const struct part choice[] = {
        { "index", { "0" } },
        { "finish_reason", { "null", "null", "\"\"", "\"stop\"", "\"length\"" } },
        { "logprobs", { "null", "{\"content\":\"no\"}" } },
        { "stop_reason", { "null" } },
    };

    if (generator_below(generator, 2) == 0) {
        static const struct part text[] = { { "text", { NULL } },
                                            { "finish_reason", { "null", "\"length\"" } },
                                            { "index", { "0" } } };

        add_parts(generator, out, text, 3);
        return;
    }
    add_parts(generator, out, choice, 4);
    out->length--; /* its brace */
    text_add(out, out->data[out->length - 1] == '{' ? "\"delta\":" : ",\"delta\":");
    add_parts(generator, out, delta, 5);
    text_add_char(out, '}');
}

static void add_chunk(struct generator *generator, struct text *out)
{
    static const struct part parts[] = {
        { "id", { "\"cmpl-1\"" } },
        { "object", { "\"text_completion\"", "\"chat.completion.chunk\"", "\"error\"" } },
        { "created", { "1790000000" } },
        { "usage",
          { "null", "null", "{\"prompt_tokens\":3,\"completion_tokens\":4}",
            ("{\"prompt_tokens\":3,\"prompt_tokens_details\":{\"cached_tokens\":2},"
             "\"completion_tokens_details\":null}"),
            "{\"completion_tokens\":4.0,\"total_tokens\":12345678901234567890}",
            "{\"prompt_tokens\":03,\"completion_tokens\":-4}",
            "{\"completion_tokens\":{},\"reasoning_tokens\":7}" } },
        { "error", { "null", "null", "{\"message\":\"m\"}", "\"s\"", "false" } },
        { "model", { NULL } },
    };

    add_parts(generator, out, parts, 6);
    out->length--;
    text_add(out, out->data[out->length - 1] == '{' ? "\"choices\":[" : ",\"choices\":[");
    for (uint64_t i = generator_below(generator, 10) == 0 ? 2 : generator_below(generator, 8) != 0;
         i > 0; i--) {
        add_choice(generator, out);
        if (i > 1)
            text_add_char(out, ',');
    }
    text_add(out, "]}");
}

/* Occasionally a byte is lost, doubled or changed. */
static void damage(struct generator *generator, struct text *out)
{
    size_t at = generator_below(generator, out->length);

    switch (generator_below(generator, 3)) {
    case 0:
        memmove(out->data + at, out->data + at + 1, out->length - at);
        out->length--;
        break;
    case 1:
        out->data[at] = "\"{}[],:\\0a"[generator_below(generator, 10)];
        break;
    default:
        out->length = at;
        out->data[at] = '\0';
        break;
    }
}

static void check_against_the_library(struct text *json, size_t *fast)
{
    TEXT_AUTO event = { 0 };
    TEXT_AUTO expected = { 0 };
    TEXT_AUTO out = { 0 };
    struct completion_event scanned;

    text_addf(&event, "data: %s\n\n", text_string(json));
    reference(json->data, json->length, &expected);
    read_in_pieces(event.data, event.length, event.length, false, &out);
    if (strcmp(text_string(&expected), "error") == 0)
        assert_memory_equal(text_string(&out), "error ", 6);
    else if (strcmp(text_string(&expected), text_string(&out)) != 0)
        fail_msg("%s: the library says %s, the stream %s", json->data, text_string(&expected),
                 text_string(&out));
    *fast += completion_scan(json->data, json->length, false, &scanned);
}

static void says_what_the_library_says(void **state)
{
    struct generator generator;
    size_t fast = 0, rounds = 60000;

    (void)state;
    generator_init(&generator, 1);
    for (size_t round = 0; round < rounds; round++) {
        TEXT_AUTO json = { 0 };

        if (round % 4 == 0) {
            text_add_char(&json, '{');
            add_members(&generator, &json, 0);
            text_add_char(&json, '}');
        } else {
            add_chunk(&generator, &json);
        }
        if (round % 8 == 3)
            damage(&generator, &json);
        if (json.length == 0 || memchr(json.data, '\n', json.length) != NULL
            || strncmp(json.data, "[DONE]", 6) == 0 || json.data[0] == ' ')
            continue;
        if (text_is_utf8(json.data, json.length)) /* the stream repairs what is not */
            check_against_the_library(&json, &fast);
    }
    assert_true(fast > rounds / 20);
    assert_true(fast < rounds);
}

static void is_the_same_at_every_split(void **state)
{
    struct generator generator;

    (void)state;
    generator_init(&generator, 2);
    for (int round = 0; round < 300; round++) {
        TEXT_AUTO stream = { 0 };
        TEXT_AUTO whole = { 0 };

        for (int i = 0; i < 3; i++) {
            TEXT_AUTO json = { 0 };

            add_chunk(&generator, &json);
            text_addf(&stream, "data:%s%s%s", i == 0 ? " " : "", json.data,
                      i == 1 ? "\r\n\r\n" : "\n\n");
        }
        read_in_pieces(stream.data, stream.length, stream.length, true, &whole);
        for (size_t piece = 1; piece < stream.length; piece += 1 + piece / 8) {
            TEXT_AUTO out = { 0 };

            read_in_pieces(stream.data, stream.length, piece, true, &out);
            assert_string_equal(text_string(&out), text_string(&whole));
        }
    }
}

static void takes_the_chunks_of_known_servers_the_fast_way(void **state)
{
    static const char *const chunks[] = {
        "{\"id\":\"cmpl-9\",\"object\":\"text_completion\",\"created\":1790000000,\"model\":\"m\","
        "\"choices\":[{\"index\":0,\"text\":\" a\",\"logprobs\":null,\"finish_reason\":null,"
        "\"stop_reason\":null,\"prompt_token_ids\":null,\"token_ids\":null}],\"usage\":null}",
        "{\"id\":\"chatcmpl-9\",\"object\":\"chat.completion.chunk\",\"created\":1790000000,"
        "\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"\\n\"},"
        "\"logprobs\":null,\"finish_reason\":null,\"token_ids\":null}]}",
        "{\"choices\":[{\"finish_reason\":null,\"index\":0,\"delta\":{\"content\":\"\xc3\xa9\"}}],"
        "\"created\":1790000000,\"id\":\"chatcmpl-x\",\"model\":\"m\",\"system_fingerprint\":"
        "\"b4000-1\",\"object\":\"chat.completion.chunk\"}",
        "{\"id\":\"cmpl-9\",\"object\":\"text_completion\",\"choices\":[{\"index\":0,\"text\":"
        "\"a\","
        "\"token_ids\":[11,12]}],\"usage\":{\"prompt_tokens\":64,\"total_tokens\":70,"
        "\"completion_tokens\":6,\"prompt_tokens_details\":null}}",
        "{\"choices\":[{\"delta\":{\"content\":\"a\"}}],\"usage\":{\"prompt_tokens\":64,"
        "\"completion_tokens\":6,\"prompt_tokens_details\":{\"cached_tokens\":0},"
        "\"completion_tokens_details\":{\"reasoning_tokens\":2}}}",
        "{\"id\":\"cmpl-9\", \"object\": \"text_completion\", \"created\": 1790000000, "
        "\"choices\": "
        "[{\"text\": \"\\u4e16\", \"index\": 0, \"logprobs\": null, \"finish_reason\": null}]}",
    };
    struct completion_event event;

    (void)state;
    for (size_t i = 0; i < sizeof chunks / sizeof *chunks; i++) {
        assert_true(completion_scan(chunks[i], strlen(chunks[i]), false, &event));
        assert_true(event.has_content);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_no_token_for_role_and_empty_chunks),
        cmocka_unit_test(takes_content_of_both_apis),
        cmocka_unit_test(takes_reasoning_under_either_name_and_tool_arguments),
        cmocka_unit_test(takes_content_that_is_a_list_of_parts),
        cmocka_unit_test(an_empty_finish_reason_counts_as_none),
        cmocka_unit_test(takes_usage_from_any_chunk),
        cmocka_unit_test(counts_reasoning_tokens_separately),
        cmocka_unit_test(counts_listed_token_ids),
        cmocka_unit_test(sees_errors_inside_the_stream),
        cmocka_unit_test(sees_done_with_and_without_blanks),
        cmocka_unit_test(ignores_comments_and_other_fields),
        cmocka_unit_test(takes_crlf_and_no_space),
        cmocka_unit_test(a_stream_is_known_by_how_it_begins),
        cmocka_unit_test(joins_data_lines_of_one_event),
        cmocka_unit_test(is_not_fooled_by_text_that_looks_like_json),
        cmocka_unit_test(allows_any_character_a_model_may_write),
        cmocka_unit_test(breaks_on_what_is_not_json),
        cmocka_unit_test(breaks_on_an_event_without_end),
        cmocka_unit_test(bounds_events_of_many_data_lines),
        cmocka_unit_test(says_what_the_library_says),
        cmocka_unit_test(is_the_same_at_every_split),
        cmocka_unit_test(takes_the_chunks_of_known_servers_the_fast_way),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
