/* SPDX-License-Identifier: Apache-2.0 */
/* Tests with random chunks that the stream reads the same as the JSON library does, and that the
 * size of the pieces in which the bytes arrive makes no difference. */
#include "base/llm/completion_stream.h"

#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/core/random.h"
#include "base/core/text.h"
#include "base/llm/completion_scan.h"
#include "tests/unit/support/stream_events.h"

/* Reads a choice with the JSON library only, independently of the code under test. */
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

/* Writes what the stream is expected to report for a chunk: "broken" if the chunk is not JSON,
 * "error" if it is an error, else the event. */
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

static void add_whitespace(struct generator *generator, struct text *out)
{
    static const char *const spaces[] = { "", "", "", "", " ", "  ", "\t", NULL };

    text_add(out, pick(generator, spaces));
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
            piece = "b"; /* keep malformed pieces rare: most chunks should be valid */
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

    add_whitespace(generator, out);
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
    add_whitespace(generator, out);
}

/* A member of a chunk, and the values to choose from. If there are none, the value is a random
 * string. One time in twelve, it is random JSON instead. */
struct part {
    const char *name;
    const char *values[8];
};

static void add_part(struct generator *generator, struct text *out, const struct part *part)
{
    if (out->data[out->length - 1] != '{')
        text_add_char(out, ',');
    add_whitespace(generator, out);
    text_addf(out, "\"%s\"", part->name);
    add_whitespace(generator, out);
    text_add_char(out, ':');
    add_whitespace(generator, out);
    if (generator_below(generator, 12) == 0)
        add_value(generator, out, 2);
    else if (part->values[0] == NULL)
        add_string(generator, out);
    else
        text_add(out, pick(generator, part->values));
    add_whitespace(generator, out);
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
    out->length--; /* remove the closing brace, because another member follows */
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

/* Removes or changes a byte, or truncates the text. */
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

static void check_against_the_library(struct text *json, size_t *fast_count)
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
        fail_msg("%s: the library reads %s, the stream reads %s", json->data,
                 text_string(&expected), text_string(&out));
    *fast_count += completion_scan(json->data, json->length, false, &scanned);
}

static void reads_the_same_as_the_json_library(void **state)
{
    struct generator generator;
    size_t fast_count = 0, rounds = 60000;

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
        if (text_is_utf8(json.data, json.length)) /* only the stream accepts invalid UTF-8 */
            check_against_the_library(&json, &fast_count);
    }
    assert_true(fast_count > rounds / 20);
    assert_true(fast_count < rounds);
}

static void events_do_not_depend_on_the_size_of_the_pieces(void **state)
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_the_same_as_the_json_library),
        cmocka_unit_test(events_do_not_depend_on_the_size_of_the_pieces),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
