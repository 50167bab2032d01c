/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/simserve/body.h"

#include <stddef.h>

#include "tests/simserve/prompt.h"

enum field_type { INTEGER, BOOLEAN, TEXT, OPTIONS, PROMPT, MESSAGES, IDS };

struct field {
    const char *name;
    enum field_type type;
    size_t offset;
};

#define AT(member) offsetof(struct body, member)

static const struct field fields[] = {
    { "model", TEXT, AT(model) },
    { "prompt", PROMPT, 0 },
    { "messages", MESSAGES, 0 },
    { "tokens", IDS, 0 },
    { "max_tokens", INTEGER, AT(max_tokens) },
    { "max_completion_tokens", INTEGER, AT(max_completion_tokens) },
    { "min_tokens", INTEGER, AT(min_tokens) },
    { "n", INTEGER, AT(n) },
    { "stream", BOOLEAN, AT(stream) },
    { "ignore_eos", BOOLEAN, AT(ignore_eos) },
    { "stream_options", OPTIONS, 0 },
    { "cache_salt", TEXT, AT(cache_salt) },
    { NULL },
};

static const struct field option_fields[] = {
    { "include_usage", BOOLEAN, AT(include_usage) },
    { "continuous_usage_stats", BOOLEAN, AT(continuous_usage_stats) },
    { NULL },
};

struct reader {
    struct json_scan scan;
    struct tokenizer *tokenizer;
    const struct config *config;
    struct body *body;
    struct error *error;
};

static bool read_members(struct reader *reader, const struct field *table);

static bool wrong(const struct reader *reader, enum json_scan_token token,
                  const struct field *field, const char *expected)
{
    if (token == JSON_SCAN_FAILED)
        return json_scan_fail(&reader->scan, reader->error);
    return error_set(reader->error, ERROR_INVALID, "\"%s\" must be %s", field->name, expected);
}

static bool read_boolean(const struct reader *reader, const struct field *field,
                         enum json_scan_token token, bool *out)
{
    if (token != JSON_SCAN_TRUE && token != JSON_SCAN_FALSE)
        return wrong(reader, token, field, "true or false");
    *out = token == JSON_SCAN_TRUE;
    return true;
}

/* Refuses 0, except for min_tokens, because in struct body, 0 stands for an absent max_tokens. */
static bool read_integer(const struct reader *reader, const struct field *field,
                         enum json_scan_token token, int64_t *out)
{
    int64_t least = field->offset == AT(min_tokens) ? 0 : 1;

    if (token != JSON_SCAN_NUMBER || !json_scan_integer(&reader->scan, out))
        return wrong(reader, token, field, "a whole number");
    if (*out < least)
        return error_set(reader->error, ERROR_INVALID, "%s must be at least %lld, got %lld.",
                         field->name, (long long)least, (long long)*out);
    return true;
}

static bool read_text(const struct reader *reader, const struct field *field,
                      enum json_scan_token token, char *out)
{
    if (token != JSON_SCAN_STRING || !json_scan_copy(&reader->scan, out, CONFIG_TEXT_SIZE))
        return wrong(reader, token, field, "a string of at most 159 bytes");
    return true;
}

/* Reads a value that is not a prompt; null counts as absent. */
static bool read_value(struct reader *reader, const struct field *field)
{
    enum json_scan_token token = json_scan_next(&reader->scan);
    void *at = (char *)reader->body + field->offset;

    if (token == JSON_SCAN_NULL)
        return true;
    if (field->type == BOOLEAN)
        return read_boolean(reader, field, token, at);
    if (field->type == INTEGER)
        return read_integer(reader, field, token, at);
    if (field->type == TEXT)
        return read_text(reader, field, token, at);
    if (token != JSON_SCAN_OBJECT)
        return wrong(reader, token, field, "an object");
    reader->body->has_stream_options = true;
    return read_members(reader, option_fields);
}

/* If a body has several prompts, the last one counts, as for any member that is repeated. */
static bool read_member(struct reader *reader, const struct field *field)
{
    struct body *body = reader->body;

    if (field->type == PROMPT || field->type == MESSAGES || field->type == IDS)
        body->tokens.count = 0;
    switch (field->type) {
    case PROMPT:
        body->given = BODY_PROMPT;
        return prompt_read(reader->tokenizer, &reader->scan, &body->tokens, reader->error);
    case MESSAGES:
        body->given = BODY_MESSAGES;
        return prompt_read_messages(reader->tokenizer, reader->config->chat_template_tokens,
                                    &reader->scan, &body->tokens, reader->error);
    case IDS:
        body->given = BODY_IDS;
        return prompt_read_ids(&reader->scan, &body->tokens, reader->error);
    case INTEGER:
    case BOOLEAN:
    case TEXT:
    case OPTIONS:
        break;
    }
    return read_value(reader, field);
}

/* Reads what follows the opening brace of an object: its members and the closing brace. */
static bool read_members(struct reader *reader, const struct field *table)
{
    enum json_scan_token token;

    while ((token = json_scan_next(&reader->scan)) == JSON_SCAN_KEY) {
        const struct field *field = table;

        while (field->name && !json_scan_is(&reader->scan, field->name))
            field++;
        if (field->name == NULL)
            json_scan_value(&reader->scan, NULL, NULL);
        else if (!read_member(reader, field))
            return false;
    }
    return token == JSON_SCAN_OBJECT_END || json_scan_fail(&reader->scan, reader->error);
}

bool body_read(struct tokenizer *tokenizer, const struct config *config, const char *bytes,
               size_t length, struct body *out, struct error *error)
{
    struct reader reader = {
        .tokenizer = tokenizer, .config = config, .body = out, .error = error
    };
    enum json_scan_token token;

    *out = (struct body){ .n = 1 };
    json_scan_init(&reader.scan, bytes, length);
    token = json_scan_next(&reader.scan);
    if (token == JSON_SCAN_FAILED)
        return json_scan_fail(&reader.scan, error);
    if (token != JSON_SCAN_OBJECT)
        return error_set(error, ERROR_INVALID, "the request must be a JSON object");
    if (!read_members(&reader, fields))
        return false;
    return json_scan_next(&reader.scan) == JSON_SCAN_DONE || json_scan_fail(&reader.scan, error);
}

void body_finish(struct body *body)
{
    tokens_finish(&body->tokens);
}
