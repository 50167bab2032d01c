/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/simserve/prompt.h"

#include <stdlib.h>
#include <string.h>

#include "base/core/memory.h"

#define ONE_PROMPT "\"prompt\" must be one prompt: a string or a list of token ids"

/* Fails: with the syntax error if the JSON is malformed, otherwise with the message `expected`. */
static bool wrong(const struct json_scan *scan, enum json_scan_token token, const char *expected,
                  struct error *error)
{
    if (token == JSON_SCAN_FAILED)
        return json_scan_fail(scan, error);
    return error_set(error, ERROR_INVALID, "%s", expected);
}

/* Adds the JSON string that was just read. */
static void add_text(struct tokenizer *tokenizer, const struct json_scan *scan, struct tokens *out)
{
    char *plain;

    if (!scan->escaped) {
        tokenizer_encode(tokenizer, scan->text, scan->length, out);
        return;
    }
    plain = memory_zeroed(scan->length + 1, 1);
    json_scan_copy(scan, plain, scan->length + 1);
    tokenizer_encode(tokenizer, plain, strlen(plain), out);
    free(plain);
}

/* Adds the JSON number that was just read, as a token id. */
static bool add_id(const struct json_scan *scan, const char *name, struct tokens *out,
                   struct error *error)
{
    int64_t id;

    if (!json_scan_integer(scan, &id))
        return error_set(error, ERROR_INVALID, "\"%s\" must be a list of token ids", name);
    if (id < 0 || id >= TOKENIZER_VOCABULARY)
        return error_set(error, ERROR_INVALID, "Token id %lld is out of vocabulary", (long long)id);
    tokens_add(out, (uint32_t)id);
    return true;
}

/* Adds the ids of a list up to its closing bracket; `token` is the first token after the opening
 * bracket. */
static bool add_ids(struct json_scan *scan, enum json_scan_token token, const char *name,
                    struct tokens *out, struct error *error)
{
    for (; token == JSON_SCAN_NUMBER; token = json_scan_next(scan))
        if (!add_id(scan, name, out, error))
            return false;
    return token == JSON_SCAN_ARRAY_END
           || wrong(scan, token, "a list that begins with a token id must contain only token ids",
                    error);
}

bool prompt_read_ids(struct json_scan *scan, struct tokens *out, struct error *error)
{
    enum json_scan_token token = json_scan_next(scan);

    if (token != JSON_SCAN_ARRAY)
        return wrong(scan, token, "\"tokens\" must be a list of token ids", error);
    return add_ids(scan, json_scan_next(scan), "tokens", out, error);
}

/* Reads the elements of a list: token ids, or one prompt (a string, or a list of token ids). */
static bool read_list(struct tokenizer *tokenizer, struct json_scan *scan, struct tokens *out,
                      struct error *error)
{
    enum json_scan_token token = json_scan_next(scan);

    if (token == JSON_SCAN_NUMBER || token == JSON_SCAN_ARRAY_END)
        return add_ids(scan, token, "prompt", out, error);
    if (token == JSON_SCAN_STRING)
        add_text(tokenizer, scan, out);
    else if (token != JSON_SCAN_ARRAY)
        return wrong(scan, token, ONE_PROMPT, error);
    else if (!add_ids(scan, json_scan_next(scan), "prompt", out, error))
        return false;
    token = json_scan_next(scan);
    return token == JSON_SCAN_ARRAY_END || wrong(scan, token, ONE_PROMPT, error);
}

bool prompt_read(struct tokenizer *tokenizer, struct json_scan *scan, struct tokens *out,
                 struct error *error)
{
    enum json_scan_token token = json_scan_next(scan);

    if (token == JSON_SCAN_ARRAY)
        return read_list(tokenizer, scan, out, error);
    if (token != JSON_SCAN_STRING)
        return wrong(scan, token, ONE_PROMPT, error);
    add_text(tokenizer, scan, out);
    return true;
}

/* Reads the members of a part such as {"type": "text", "text": ...}, after its opening brace. */
static bool read_part(struct tokenizer *tokenizer, struct json_scan *scan, struct tokens *out,
                      struct error *error)
{
    static const char only_text[] =
        "each part of \"content\" must have a string \"text\"; other parts are not supported";
    enum json_scan_token token;
    bool has_text = false;

    while ((token = json_scan_next(scan)) == JSON_SCAN_KEY) {
        if (!json_scan_is(scan, "text")) {
            json_scan_value(scan, NULL, NULL);
            continue;
        }
        if ((token = json_scan_next(scan)) != JSON_SCAN_STRING)
            return wrong(scan, token, only_text, error);
        add_text(tokenizer, scan, out);
        has_text = true;
    }
    return (token == JSON_SCAN_OBJECT_END && has_text) || wrong(scan, token, only_text, error);
}

/* Reads the content of a message: a string, null (as in a turn that has only tool calls), or a list
 * of parts. */
static bool read_content(struct tokenizer *tokenizer, struct json_scan *scan, struct tokens *out,
                         struct error *error)
{
    enum json_scan_token token = json_scan_next(scan);

    if (token == JSON_SCAN_STRING)
        add_text(tokenizer, scan, out);
    if (token == JSON_SCAN_STRING || token == JSON_SCAN_NULL)
        return true;
    if (token != JSON_SCAN_ARRAY)
        return wrong(scan, token, "\"content\" must be a string or a list of parts", error);
    while ((token = json_scan_next(scan)) == JSON_SCAN_OBJECT)
        if (!read_part(tokenizer, scan, out, error))
            return false;
    return token == JSON_SCAN_ARRAY_END
           || wrong(scan, token, "\"content\" must be a string or a list of parts", error);
}

/* Reads the members of a message, after its opening brace. */
static bool read_message(struct tokenizer *tokenizer, struct json_scan *scan, struct tokens *out,
                         struct error *error)
{
    enum json_scan_token token;
    bool has_role = false, has_content = false;

    while ((token = json_scan_next(scan)) == JSON_SCAN_KEY) {
        if (json_scan_is(scan, "content")) {
            has_content = true;
            if (!read_content(tokenizer, scan, out, error))
                return false;
        } else {
            has_role = has_role || json_scan_is(scan, "role");
            json_scan_value(scan, NULL, NULL);
        }
    }
    return (token == JSON_SCAN_OBJECT_END && has_role && has_content)
           || wrong(scan, token, "a message needs \"role\" and \"content\"", error);
}

/* Adds the chat template's tokens from `from` up to `to`: they have the lowest ids. Half of the
 * template comes before the messages, and half after. */
static void add_template(int64_t from, int64_t to, struct tokens *out)
{
    for (int64_t id = from; id < to; id++)
        tokens_add(out, (uint32_t)id);
}

bool prompt_read_messages(struct tokenizer *tokenizer, int64_t template_tokens,
                          struct json_scan *scan, struct tokens *out, struct error *error)
{
    static const char expected[] = "\"messages\" must be a list of at least one message";
    enum json_scan_token token = json_scan_next(scan);
    size_t messages = 0;

    if (token != JSON_SCAN_ARRAY)
        return wrong(scan, token, expected, error);
    add_template(0, template_tokens / 2, out);
    for (; (token = json_scan_next(scan)) == JSON_SCAN_OBJECT; messages++)
        if (!read_message(tokenizer, scan, out, error))
            return false;
    add_template(template_tokens / 2, template_tokens, out);
    return (token == JSON_SCAN_ARRAY_END && messages > 0) || wrong(scan, token, expected, error);
}
