/* SPDX-License-Identifier: Apache-2.0 */
/* Tools that answer at once, with text, an image, audio, a resource or an error. Two of the tools
 * have an unusual input schema: one repeats an argument in a header, one has rare keywords. */

#include "fixtures.h"

#define PIXEL                                                                                      \
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5E"     \
    "rkJggg=="
#define IMAGE "{\"type\":\"image\",\"mimeType\":\"image/png\",\"data\":\"" PIXEL "\"}"
#define SILENCE "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAAAAA=="

const struct param fixture_no_params[] = { { 0 } };
const char fixture_image[] = IMAGE;

json_t *fixture_json(const char *text)
{
    json_error_t problem;
    json_t *value = json_loads(text, 0, &problem);

    if (value == NULL) {
        fprintf(stderr, "fixture_json: %s in %s\n", problem.text, text);
        abort();
    }
    return value;
}

static bool answer_text(struct call *call, struct answer *answer, struct error *error)
{
    (void)call, (void)error;
    text_add(&answer->text, "This is a simple text response for testing.");
    return true;
}

static bool answer_image(struct call *call, struct answer *answer, struct error *error)
{
    (void)call, (void)error;
    answer->content = fixture_json("[" IMAGE "]");
    return true;
}

static bool answer_audio(struct call *call, struct answer *answer, struct error *error)
{
    (void)call, (void)error;
    answer->content =
        fixture_json("[{\"type\":\"audio\",\"mimeType\":\"audio/wav\",\"data\":\"" SILENCE "\"}]");
    return true;
}

static bool answer_resource(struct call *call, struct answer *answer, struct error *error)
{
    (void)call, (void)error;
    answer->content =
        fixture_json("[{\"type\":\"resource\",\"resource\":{\"uri\":\"test://embedded-resource\","
                     "\"mimeType\":\"text/plain\","
                     "\"text\":\"This is an embedded resource content.\"}}]");
    return true;
}

static bool answer_mixed(struct call *call, struct answer *answer, struct error *error)
{
    (void)call, (void)error;
    answer->content = fixture_json(
        "[{\"type\":\"text\",\"text\":\"Multiple content types test:\"}," IMAGE ","
        "{\"type\":\"resource\",\"resource\":{\"uri\":\"test://mixed-content-resource\","
        "\"mimeType\":\"application/json\","
        "\"text\":\"{\\\"test\\\":\\\"data\\\",\\\"value\\\":123}\"}}]");
    return true;
}

static bool fail(struct call *call, struct answer *answer, struct error *error)
{
    (void)call, (void)answer;
    return error_set(error, ERROR_CONFLICT, "This tool intentionally returns an error for testing");
}

static bool answer_region(struct call *call, struct answer *answer, struct error *error)
{
    (void)error;
    text_addf(&answer->text, "Region: %s", call_text(call, "region"));
    return true;
}

static const struct param region_params[] = {
    { "region", VALUE_TEXT, .required = true, .high = 1000, .header = "Region",
      .help = "The region, which the client also sends in a header." },
    { 0 },
};

/* An input schema with keywords that a server must pass on to clients unchanged. */
static const char schema_2020_12[] =
    "{\"$schema\":\"https://json-schema.org/draft/2020-12/schema\",\"type\":\"object\","
    "\"$defs\":{\"address\":{\"$anchor\":\"addressDef\",\"type\":\"object\","
    "\"properties\":{\"street\":{\"type\":\"string\"},\"city\":{\"type\":\"string\"}}}},"
    "\"properties\":{\"name\":{\"type\":\"string\"},\"address\":{\"$ref\":\"#/$defs/address\"},"
    "\"contactMethod\":{\"type\":\"string\",\"enum\":[\"phone\",\"email\"]},"
    "\"phone\":{\"type\":\"string\"},\"email\":{\"type\":\"string\"}},"
    "\"allOf\":[{\"anyOf\":[{\"required\":[\"phone\"]},{\"required\":[\"email\"]}]}],"
    "\"if\":{\"properties\":{\"contactMethod\":{\"const\":\"phone\"}},"
    "\"required\":[\"contactMethod\"]},"
    "\"then\":{\"required\":[\"phone\"]},\"else\":{\"required\":[\"email\"]},"
    "\"additionalProperties\":false}";

#define CONTENT_TOOL                                                                               \
    .role = ROLE_VIEWER, .placement = PLACE_INLINE, .read_only = true, .idempotent = true

const struct tool content_tools[] = {
    { .name = "test_simple_text",
      .title = "Text",
      .help = "Answers with text.",
      .params = fixture_no_params,
      .run = answer_text,
      CONTENT_TOOL },
    { .name = "test_image_content",
      .title = "Image",
      .help = "Answers with an image.",
      .params = fixture_no_params,
      .run = answer_image,
      CONTENT_TOOL },
    { .name = "test_audio_content",
      .title = "Audio",
      .help = "Answers with audio.",
      .params = fixture_no_params,
      .run = answer_audio,
      CONTENT_TOOL },
    { .name = "test_embedded_resource",
      .title = "Resource",
      .help = "Answers with an embedded resource.",
      .params = fixture_no_params,
      .run = answer_resource,
      CONTENT_TOOL },
    { .name = "test_multiple_content_types",
      .title = "Several kinds",
      .help = "Answers with text, an image and a resource.",
      .params = fixture_no_params,
      .run = answer_mixed,
      CONTENT_TOOL },
    { .name = "test_error_handling",
      .title = "Error",
      .help = "Always fails.",
      .params = fixture_no_params,
      .run = fail,
      CONTENT_TOOL },
    { .name = "test_x_mcp_header",
      .title = "Header",
      .help = "Takes an argument that is also sent in a header.",
      .params = region_params,
      .run = answer_region,
      CONTENT_TOOL },
    { .name = "json_schema_2020_12_tool",
      .title = "Schema",
      .help = "Tool with JSON Schema 2020-12 features",
      .params = fixture_no_params,
      .input_schema = schema_2020_12,
      .run = answer_text,
      CONTENT_TOOL },
    { 0 },
};
