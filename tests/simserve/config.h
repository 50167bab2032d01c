/* SPDX-License-Identifier: Apache-2.0 */
/* The settings. Except for the faults, a single table defines the flags, --help and POST
 * /sim/config. */
#pragma once

#include <jansson.h>
#include <stdio.h>

#include "base/core/error.h"
#include "tests/simserve/faults.h"

#define CONFIG_TEXT_SIZE 160

struct config {
    /* These can only be set when simserve starts. */
    char listen[CONFIG_TEXT_SIZE];
    char pid_file[CONFIG_TEXT_SIZE];
    char api_key[CONFIG_TEXT_SIZE];
    int64_t kv_blocks;
    int64_t truth_requests;
    int64_t truth_chunks_mib;

    char model[CONFIG_TEXT_SIZE];
    int64_t max_model_len;
    int64_t chat_template_tokens;
    bool ends_at_context;

    double ttft_ms;
    double prefill_tokens_per_s;
    bool prefill_serial;
    double cached_token_cost;
    double cold_shape_ms;
    double step_ms;
    double step_ms_per_running;
    double jitter;
    int64_t seed;
    int64_t max_running;
    int64_t max_waiting;
    bool prefix_cache;
    bool blast;

    double tokens_per_chunk;
    bool tokens_per_chunk_geometric;
    int64_t draft_tokens;
    int64_t natural_tokens;
    bool unicode_output;
    bool role_chunk;
    bool role_early;
    bool finish_joined;
    bool cached_tokens_in_usage;
    bool reasoning_tokens_in_usage;

    double keep_alive_idle_ms;
    int64_t close_after_requests;
    bool truth_chunks;
    bool lazy_counters;

    struct fault_rate faults[FAULT_COUNT];
    int64_t fault_after_chunks;
    double stall_ms;
    int64_t retry_after_s;
    double slow_headers_ms;
    int64_t reasoning_chunks;
    char reasoning_field[CONFIG_TEXT_SIZE];
    double split_pause_ms;
    int64_t events_per_write;
};

void config_init(struct config *config);
/* Applies flags: `--name value`, `--name` alone for a boolean setting, `--fault name=probability`,
 * `--fault name/period`, or `--fault name` (probability 1). */
bool config_read_flags(struct config *config, int argc, char **argv, struct error *error);
/* Applies all members of an object, or none if one of them is wrong. The member "faults" maps fault
 * names to {"probability": p, "period": n}. */
bool config_apply(struct config *config, json_t *object, struct error *error);
/* Returns an object with all settings except the API key; the caller releases the object. */
json_t *config_show(const struct config *config);
void config_help(FILE *out);
