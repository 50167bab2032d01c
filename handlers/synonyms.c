/* SPDX-License-Identifier: Apache-2.0 */
/* Names that other products use for our arguments. If a call gives such a name, the error message
 * asks "did you mean" and suggests ours. */

#include <string.h>

#include "handlers/values.h"

/* A given name can have several rows: then the first of the tool's parameters that is in one of
 * these rows is suggested. */
static const struct synonym {
    const char *given, *ours;
} synonyms[] = {
    { "users", "concurrency" },
    { "num_users", "concurrency" },
    { "clients", "concurrency" },
    { "vus", "concurrency" },
    { "streams", "concurrency" },
    { "parallel", "concurrency" },
    { "parallelism", "concurrency" },
    { "batch_size", "concurrency" },
    { "load", "concurrency" },
    { "loads", "concurrency" },
    { "isl", "input_tokens" },
    { "context", "input_tokens" },
    { "contexts", "input_tokens" },
    { "context_length", "input_tokens" },
    { "context_tokens", "input_tokens" },
    { "prompt_tokens", "input_tokens" },
    { "prompt_len", "input_tokens" },
    { "input_len", "input_tokens" },
    { "osl", "output_tokens" },
    { "max_tokens", "output_tokens" },
    { "max_new_tokens", "output_tokens" },
    { "completion_tokens", "output_tokens" },
    { "output_len", "output_tokens" },
    { "max_output_tokens", "max_tokens" },
    { "rate", "request_rate" },
    { "rps", "request_rate" },
    { "qps", "request_rate" },
    { "requests_per_second", "request_rate" },
    { "num_prompts", "requests" },
    { "num_requests", "requests" },
    { "request_count", "requests" },
    { "duration", "window_s" },
    { "duration_s", "window_s" },
    { "duration_seconds", "window_s" },
    { "seconds", "window_s" },
    { "runs", "repetitions" },
    { "repeat", "repetitions" },
    { "repeats", "repetitions" },
    { "trials", "repetitions" },
    { "wait", "wait_s" },
    { "timeout", "timeout_s" },
    { "timeout", "wait_s" },
    { "timeout_seconds", "timeout_s" },
    { "name", "deployment" },
    { "server", "deployment" },
    { "target", "deployment" },
    { "endpoint", "url" },
    { "endpoint", "deployment" },
    { "base_url", "url" },
    { "address", "url" },
    { "host", "url" },
    { "api_key", "secret" },
    { "key", "secret" },
    { "token", "secret" },
    { "bearer", "secret" },
    { "message", "prompt" },
    { "question", "prompt" },
    { "id", "job" },
    { "id", "sweep" },
    { "id", "run" },
    { "job_id", "job" },
    { "sweep_id", "sweep" },
    { "run_id", "run" },
};

bool value_name_is_synonym(const char *given, const char *ours)
{
    for (size_t i = 0; i < sizeof synonyms / sizeof *synonyms; i++)
        if (strcasecmp(synonyms[i].given, given) == 0 && strcmp(synonyms[i].ours, ours) == 0)
            return true;
    return false;
}
