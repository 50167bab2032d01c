/* SPDX-License-Identifier: Apache-2.0 */
#include "base/llm/failure.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include "base/json/json.h"

static const char *const names[FAILURE_COUNT] = {
    [FAILURE_NONE] = "none",
    [FAILURE_DNS] = "dns",
    [FAILURE_CONNECT_REFUSED] = "connect_refused",
    [FAILURE_CONNECT_TIMEOUT] = "connect_timeout",
    [FAILURE_TLS] = "tls",
    [FAILURE_SEND] = "send",
    [FAILURE_REFUSED_400] = "refused_400",
    [FAILURE_AUTH] = "auth",
    [FAILURE_NOT_FOUND] = "not_found",
    [FAILURE_TOO_LONG] = "too_long",
    [FAILURE_RATE_LIMITED] = "rate_limited",
    [FAILURE_OVERLOADED_503] = "overloaded_503",
    [FAILURE_SERVER_ERROR] = "server_error",
    [FAILURE_PROTOCOL] = "protocol",
    [FAILURE_STREAM_ERROR] = "stream_error",
    [FAILURE_TRUNCATED] = "truncated",
    [FAILURE_ABORTED] = "aborted",
    [FAILURE_SHORT_INPUT] = "short_input",
    [FAILURE_SHORT_OUTPUT] = "short_output",
    [FAILURE_EMPTY] = "empty",
    [FAILURE_TTFT_TIMEOUT] = "ttft_timeout",
    [FAILURE_IDLE_TIMEOUT] = "idle_timeout",
    [FAILURE_TOTAL_TIMEOUT] = "total_timeout",
    [FAILURE_RESET] = "reset",
    [FAILURE_CANCELLED] = "cancelled",
    [FAILURE_CLIENT_LIMIT] = "client_limit",
};

const char *failure_name(enum failure failure)
{
    return names[failure];
}

/* What servers write when the prompt, or the prompt plus its answer, is too long for the model. The
 * phrases contain no characters that JSON escapes, because they are searched for in raw JSON. */
static const char *const too_long_phrases[] = {
    "maximum context length",                 /* vLLM, SGLang, OpenAI, Ollama */
    "context length is only",                 /* vLLM since 2026 */
    "longer than the maximum model length",   /* vLLM, when the engine checks the prompt */
    "longer than the model's context length", /* SGLang */
    "exceeds the maximum allowed length",     /* SGLang, if KV memory sets the limit */
    "exceeds the available context size",     /* llama.cpp, the message */
    "exceed_context_size_error",              /* llama.cpp, the type of the error */
    "exceed context window",                  /* llama-cpp-python */
    "exceeds the context length",             /* Ollama */
    "context_length_exceeded",                /* OpenAI's code, also used by gateways */
    "exceed context limit",                   /* Anthropic's wording, also used by gateways */
    "prompt is too long",                     /* Anthropic's wording, also used by gateways */
    "inputs` must have less than",            /* TGI, prompt alone */
    "max_new_tokens` must be <=",             /* TGI, prompt and answer */
    "exceeds maximum input length",           /* TensorRT-LLM */
    "exceeds maximum sequence length",        /* TensorRT-LLM */
};

static bool contains(const char *body, size_t length, const char *phrase)
{
    size_t size = strlen(phrase);

    for (size_t at = 0; at + size <= length; at++)
        if (strncasecmp(body + at, phrase, size) == 0)
            return true;
    return false;
}

static bool says_too_long(const char *body, size_t length)
{
    static const size_t searched_bytes = 16384;
    size_t end = length < searched_bytes ? length : searched_bytes;

    for (size_t i = 0; i < sizeof too_long_phrases / sizeof *too_long_phrases; i++)
        if (contains(body, end, too_long_phrases[i]))
            return true;
    return false;
}

enum failure failure_of_status(long status, const char *body, size_t body_length)
{
    switch (status) {
    case 401:
    case 403:
        return FAILURE_AUTH;
    case 404:
        return FAILURE_NOT_FOUND;
    case 413:
        return FAILURE_TOO_LONG;
    case 424: /* TGI: the generation failed */
        return FAILURE_SERVER_ERROR;
    case 429:
        return FAILURE_RATE_LIMITED;
    case 503:
        return FAILURE_OVERLOADED_503;
    }
    if (status >= 200 && status < 300)
        return FAILURE_NONE;
    if (status < 400 || status > 599)
        return FAILURE_PROTOCOL;
    if (says_too_long(body, body_length)) /* some servers send 422 or 500 for this */
        return FAILURE_TOO_LONG;
    return status < 500 ? FAILURE_REFUSED_400 : FAILURE_SERVER_ERROR;
}

enum failure failure_in_stream(const char *message, size_t length)
{
    return says_too_long(message, length) ? FAILURE_TOO_LONG : FAILURE_STREAM_ERROR;
}

const char *failure_message(const json_t *body)
{
    const char *message = json_get_text(json_object_get(body, "error"), "message", NULL);

    message = json_get_text(body, "error", message);
    message = json_get_text(body, "message", message);
    return json_get_text(body, "detail", message);
}
