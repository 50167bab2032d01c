/* SPDX-License-Identifier: Apache-2.0 */
/* The fixture for the tests of the Cloud Run provider. */
#pragma once

#include "tests/clouds/google_world.h"

#define QUOTA                                                                                      \
    "/v1/projects/p/locations/global/services/run.googleapis.com/quotaInfos/"                      \
    "NvidiaRtxPro6000GpuAllocNoZonalRedundancyPerProjectRegion"
#define SERVICE "/v2/projects/p/locations/us-east4/services/gemma"

static const char recipe_json[] =
    "{\"name\":\"run-small\",\"revision\":1,\"title\":\"A small one\",\"provider\":\"cloud_run\","
    "\"engine\":\"vllm\",\"model\":\"google/gemma-4-12B-it\",\"image\":\"vllm/"
    "vllm-openai:v0.23.0\","
    "\"command\":[\"vllm\",\"serve\",\"/mnt/models/gemma\"],"
    "\"arguments\":{\"--max-model-len\":16384,\"--max-num-seqs\":8},"
    "\"environment\":{\"HF_TOKEN\":{\"secret\":\"hf-token\"},\"HF_HUB_OFFLINE\":\"1\"},"
    "\"port\":8000,\"weights\":{\"from\":\"bucket\",\"folder\":\"gemma\",\"mounted_at\":\"/mnt/"
    "models\"},"
    "\"probes\":{\"startup\":{\"path\":\"/"
    "health\",\"initial_s\":60,\"period_s\":15,\"failures\":60}},"
    "\"licence\":{\"name\":\"Gemma\"},\"hardware\":\"nvidia-l4\",\"chips\":1,"
    "\"host\":{\"cpu\":8,\"memory_gib\":32,\"shared_memory_gib\":4},"
    "\"scale\":{\"min\":0,\"max\":1,\"concurrency\":16},"
    "\"status\":\"reported\",\"source\":\"made up\",\"as_of\":\"2026-01-01\","
    "\"cloud_run\":{\"accelerator\":\"nvidia-l4\",\"zonal_redundancy\":false,\"timeout_s\":3600,"
    "\"mount_options\":[\"uid=1001\",\"gid=1001\"]}}";

static inline int set_up(void **state)
{
    struct google_world *world = google_world_create("cloud_run", "us-east4", recipe_json);

    fake_server_add(world->fake.objects, QUOTA,
                    "{\"dimensionsInfos\":[{\"dimensions\":{\"region\":\"us-east4\"},\"details\":"
                    "{\"value\":\"3000\"}}]}");
    *state = world;
    return 0;
}
