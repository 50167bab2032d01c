/* SPDX-License-Identifier: Apache-2.0 */
/* The fixture for the Cloud TPU tests. */
#pragma once

#include "tests/clouds/google_world.h"

#define ZONE "/v2/projects/p/locations/us-east5-a"
#define QUEUED ZONE "/queuedResources/gemma"
#define NODE ZONE "/nodes/gemma"

static const char recipe_json[] =
    "{\"name\":\"tpu-small\",\"revision\":1,\"title\":\"A small one\",\"provider\":\"cloud_tpu\","
    "\"engine\":\"vllm\",\"model\":\"google/gemma-4-12B-it\","
    "\"image\":\"vllm/vllm-tpu@sha256:0123456789abcdef0123456789abcdef\","
    "\"command\":[\"vllm\",\"serve\",\"google/gemma-4-12B-it\"],"
    "\"arguments\":{\"--port\":8080,\"--max-model-len\":16384,\"--tensor-parallel-size\":4},"
    "\"environment\":{\"HF_TOKEN\":{\"secret\":\"hf-token\"},\"HF_HOME\":\"/dev/shm\"},"
    "\"port\":8080,\"weights\":{\"from\":\"hub\",\"repository\":\"google/gemma-4-12B-it\"},"
    "\"probes\":{\"startup\":{\"path\":\"/health\",\"period_s\":10,\"failures\":180}},"
    "\"disk_gb\":200,\"licence\":{\"name\":\"Gemma\"},\"hardware\":\"google-tpu-v6e\",\"chips\":4,"
    "\"host\":{\"shared_memory_gib\":10},\"places\":[\"us-east5-a\"],"
    "\"kinds\":[\"on_demand\",\"spot\",\"flex_start\",\"reserved\"],"
    "\"status\":\"reported\",\"source\":\"made up\",\"as_of\":\"2026-01-01\","
    "\"cloud_tpu\":{\"accelerator_type\":\"v6e-4\",\"runtime_version\":\"v2-alpha-tpuv6e\","
    "\"wait_s\":7200}}";

static inline int set_up(void **state)
{
    struct google_world *world = google_world_create("cloud_tpu", "us-east5-a", recipe_json);

    world->fake.now_ms = world->life.desired.made_ms;
    world->fake.gpus = 8; /* the quota, here for TPU chips */
    world->life.polls_max = 8;
    *state = world;
    return 0;
}
