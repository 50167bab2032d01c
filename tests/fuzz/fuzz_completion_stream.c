/* A stream of completions: never more than a broken stream, the same events however the bytes are
 * split, and the fast scan never says anything else than the JSON library would. */
#include <string.h>

#include "base/completion_scan.h"
#include "base/json.h"
#include "tests/fuzz/fuzz.h"

static void note(void *context, const struct completion_event *event)
{
    text_addf(context, "%d%d%d%d%d%d%d %ld %ld %ld %ld %ld %s ", event->done, event->error,
              event->has_content, event->has_reasoning, event->has_tool_call, event->has_finish,
              event->has_usage, (long)event->prompt_tokens, (long)event->completion_tokens,
              (long)event->cached_tokens, (long)event->reasoning_tokens, (long)event->token_ids,
              event->finish);
    if (event->text != NULL)
        text_add_bytes(context, event->text, event->text_length);
    if (event->reasoning != NULL)
        text_add_bytes(context, event->reasoning, event->reasoning_length);
}

static void read_stream(const uint8_t *data, size_t size, size_t piece, struct text *out)
{
    struct completion_stream *stream = completion_stream_create(true);
    bool good = true;

    for (size_t at = 0; at < size && good; at += piece)
        good = completion_stream_feed(stream, (const char *)data + at,
                                      size - at < piece ? size - at : piece, note, out);
    good = good && completion_stream_end(stream, note, out);
    text_add(out, good ? "good" : "broken");
    completion_stream_destroy(stream);
}

static int64_t count(const json_t *object, const char *name)
{
    return json_get_integer(object, name, -1);
}

static int64_t reasoning_tokens(const json_t *usage)
{
    int64_t told = count(json_object_get(usage, "completion_tokens_details"), "reasoning_tokens");

    return told >= 0 ? told : count(usage, "reasoning_tokens");
}

/* What the fast scan accepts is JSON, and none of what the library must decide. */
static void check_scan(const uint8_t *data, size_t size)
{
    struct completion_event event;
    json_error_t problem;

    if (!completion_scan((const char *)data, size, true, &event))
        return;
    must(!event.error && !event.done && !event.has_finish);
    json_auto_t *json = json_loadb((const char *)data, size, JSON_ALLOW_NUL, &problem);
    must(json_is_object(json));
    must(!json_is_object(json_object_get(json, "error")));
    const json_t *usage = json_object_get(json, "usage");
    must(event.has_usage == json_is_object(usage));
    must(event.prompt_tokens == count(usage, "prompt_tokens"));
    must(event.completion_tokens == count(usage, "completion_tokens"));
    must(event.reasoning_tokens == reasoning_tokens(usage));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    TEXT_AUTO whole = { 0 };
    TEXT_AUTO split = { 0 };

    read_stream(data, size, size > 0 ? size : 1, &whole);
    read_stream(data, size, 1 + (size > 0 ? data[0] % 7 : 0), &split);
    must(whole.length == split.length && memcmp(whole.data, split.data, whole.length) == 0);
    check_scan(data, size);
    return 0;
}
