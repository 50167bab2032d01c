/* SPDX-License-Identifier: Apache-2.0 */
/* The settings of a deployment, as arguments of deployment_register and deployment_update. */
#pragma once

#include "handlers/tool.h"
#include "store/ledger/deployments.h"

#define URL_HELP "Base URL of the server, such as http://10.0.0.5:8000."
#define URL_MORE "No user, query or fragment; a trailing /v1 is removed."

/* The settings except the URL, as parameters of both tools. */
#define PARAMS_DEPLOYMENT_SETTINGS                                                                 \
    { "model", VALUE_TEXT, .high = 255,                                                            \
      .help = "Id as requests name it; default: the server's first." },                            \
        { "model_revision", VALUE_TEXT, .high = 95, .rare = true,                                  \
          .help = "Commit or tag of the weights (no server reports it); part of the "              \
                  "fingerprint." },                                                                \
        { "quantization", VALUE_TEXT, .high = 63, .rare = true,                                    \
          .help = "Format of the weights: w4a16, fp8, none, ...; comparisons check it." },         \
        { "engine", VALUE_TEXT, .high = 31, .rare = true,                                          \
          .help = "Such as vllm or sglang; used if the server's is not recognized." },             \
        { "hardware", VALUE_TEXT, .high = 127,                                                     \
          .help = "Such as 1x NVIDIA L4; comparisons check it." },                                 \
        { "chips", VALUE_INTEGER, .high = 100000, .rare = true,                                    \
          .help = "Accelerators per instance; 0: unknown." },                                      \
        { "region", VALUE_TEXT, .high = 63, .rare = true,                                          \
          .help = "Where it runs, such as us-central1." },                                         \
        { "secret", VALUE_TEXT, .high = 63,                                                        \
          .help = "NAME of the secret with its bearer token, never the token.",                    \
          .more = "A-Z, 0-9 and _; read from OPSBRAIN_SECRET_<NAME> or the secrets folder, sent "  \
                  "only where an admin allowed it." },                                             \
        { "labels",                                                                                \
          VALUE_TEXT_MAP,                                                                          \
          .high = 16,                                                                              \
          .item_high = 120,                                                                        \
          .help = "Such as [\"team=search\"]; replaces earlier ones.",                             \
          .more = "At most 16; {} clears them." },                                                 \
        { "max_instances", VALUE_INTEGER, .high = 100000, .rare = true,                            \
          .help = "Maximum instances behind the URL; 0: unknown." },                               \
        { "container_concurrency", VALUE_INTEGER, .high = 1000000, .rare = true,                   \
          .help = "Requests that one instance receives at a time; 0: unknown." },                  \
    {                                                                                              \
        "max_running", VALUE_INTEGER,                                                              \
            .high = 1000000, .rare = true,                                                         \
            .help = "Sequences that the engine runs at a time (vLLM: max_num_seqs); 0: unknown."   \
    }

/* Checks the settings that the call gives, including the URL, and copies them to `deployment`; all
 * other settings stay as they are. INVALID: the message names the setting. FORBIDDEN: opsbrain is
 * not allowed to call the URL. After an error, some settings might already have been copied. */
CHECKED bool deployment_settings_read(const struct call *call, struct deployment *deployment,
                                      struct error *error);
bool deployment_settings_same(const struct deployment *a, const struct deployment *b);
