/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/engine_histograms.h"

#include <stddef.h>
#include <string.h>

#define FAMILIES_MAX 8

static const struct {
    const char *figure;
    const char *families[FAMILIES_MAX];
} rows[] = {
    { "ttft_count",
      { "vllm:time_to_first_token_seconds", "sglang:time_to_first_token_seconds",
        "jetstream_time_to_first_token" } },
    { "itl_count",
      { "vllm:inter_token_latency_seconds", "vllm:time_per_output_token_seconds",
        "sglang:inter_token_latency_seconds", "sglang:time_per_output_token_seconds",
        "tgi_request_mean_time_per_token_duration", "jetstream_time_per_output_token" } },
    { "e2e_count",
      { "vllm:e2e_request_latency_seconds", "sglang:e2e_request_latency_seconds",
        "tgi_request_duration", "jetstream_time_per_request" } },
    { "queue_count",
      { "vllm:request_queue_time_seconds", "sglang:queue_time_seconds",
        "sglang:request_queue_time_seconds", "tgi_request_queue_duration",
        "jetstream_queue_duration" } },
};

const char *const *engine_histogram_families(const char *figure)
{
    static const char *const none[] = { NULL };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].figure, figure) == 0)
            return rows[i].families;
    return none;
}
