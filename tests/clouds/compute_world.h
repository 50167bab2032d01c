/* SPDX-License-Identifier: Apache-2.0 */
/* The fixture for the tests of the Compute Engine provider. */
#pragma once

#include "tests/clouds/google_world.h"

#define ZONE "/compute/v1/projects/p/zones/us-central1-a"
#define QUOTA                                                                                      \
    "/v1/projects/p/locations/global/services/compute.googleapis.com/quotaInfos/"                  \
    "TPUS-PER-TPU-FAMILY-per-project-region"
#define INSTANCE ZONE "/instances/gemma"

static const char recipe_json[] =
    "{\"name\":\"gce-small\",\"revision\":1,\"title\":\"A small one\",\"provider\":"
    "\"compute_engine\",\"engine\":\"vllm\",\"model\":\"google/gemma-4-12B-it\","
    "\"image\":\"vllm/vllm-openai@sha256:0123456789abcdef0123456789abcdef\","
    "\"command\":[\"vllm\",\"serve\",\"google/gemma-4-12B-it\"],"
    "\"arguments\":{\"--port\":8080,\"--max-model-len\":16384,"
    "\"--speculative-config\":{\"method\":\"it's\"}},"
    "\"environment\":{\"HF_TOKEN\":{\"secret\":\"hf-token\"},\"HF_HUB_OFFLINE\":\"0\"},"
    "\"port\":8080,\"weights\":{\"from\":\"hub\",\"repository\":\"google/gemma-4-12B-it\"},"
    "\"probes\":{\"startup\":{\"path\":\"/health\",\"period_s\":10,\"failures\":180}},"
    "\"disk_gb\":150,\"licence\":{\"name\":\"Gemma\"},\"hardware\":\"nvidia-l4\",\"chips\":1,"
    "\"host\":{\"cpu\":4,\"memory_gib\":16,\"shared_memory_gib\":16,\"machine\":"
    "\"g2-standard-4\"},\"places\":[\"us-central1-a\"],"
    "\"kinds\":[\"on_demand\",\"spot\",\"flex_start\",\"reserved\"],"
    "\"status\":\"reported\",\"source\":\"made up\",\"as_of\":\"2026-01-01\","
    "\"compute_engine\":{\"image_project\":\"deeplearning-platform-release\",\"image_family\":"
    "\"common-cu129\",\"disk_type\":\"pd-balanced\",\"wait_s\":7200}}";

static inline int set_up(void **state)
{
    struct google_world *world =
        google_world_create("compute_engine", "us-central1-a", recipe_json);

    fake_server_add(
        world->fake.objects, QUOTA,
        "{\"dimensionsInfos\":[{\"dimensions\":{\"region\":\"us-central1\",\"tpu_family\":"
        "\"CT6E\"},\"details\":{\"value\":\"16\"}},{\"details\":{\"value\":\"0\"},"
        "\"applicableLocations\":[\"us-central1\"]}]}");
    world->fake.now_ms = world->life.desired.made_ms;
    world->life.polls_max = 8;
    *state = world;
    return 0;
}
