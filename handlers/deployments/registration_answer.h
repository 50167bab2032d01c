/* SPDX-License-Identifier: Apache-2.0 */
/* The answer of the tools that register or change a deployment, with the result of checking the
 * deployment's server. */
#pragma once

#include "handlers/answer.h"
#include "handlers/answers/deployment_answer.h"

/* `is_optional`: whether an answer can lack `reachable` because the server was not queried. */
#define REGISTRATION_ANSWER_FIELDS(is_optional)                                                    \
    { "deployment", VALUE_OBJECT, .help = "As it is stored now.",                                  \
      .fields = deployment_answer_fields, .described_in = "deployment_show" },                     \
        { "changed", VALUE_BOOLEAN, .help = "False: the registry did not change." },               \
        { "reachable", VALUE_BOOLEAN, .optional = (is_optional),                                   \
          .help = "Did the server just list the model that requests go to?" },                     \
        { "problem", VALUE_TEXT, .foreign = true, .optional = true,                                \
          .help = "Why it is not reachable." },                                                    \
        { "model", VALUE_TEXT, .optional = true, .help = "Model that requests will go to." },      \
        { "context_tokens", VALUE_INTEGER, .optional = true,                                       \
          .help = "Longest prompt plus answer, in tokens; missing: not reported." },               \
        { "engine", VALUE_TEXT, .optional = true,                                                  \
          .help = "Engine as recognized, or else as registered." },                                \
        { "engine_version", VALUE_TEXT, .optional = true,                                          \
          .help = "The engine's version, if reported." },                                          \
        { "bound", VALUE_TEXT, .optional = true,                                                   \
          .help = "Where its secret may be sent from now on." },                                   \
    {                                                                                              \
        "warning", VALUE_TEXT, .optional = true, .help = "What is wrong with its secret's value."  \
    }
extern const struct field registration_answer_fields[];
/* Queries the server for its models, and writes the answer of deployment_register or
 * deployment_update. If the server does not answer, that is not an error here: it might be
 * scaled to zero. `changed`: whether the call changed the store. `bound`: the origin to which the
 * call bound the secret, or "". */
void registration_answer(const struct call *call, const struct deployment *deployment, bool changed,
                         const char *bound, struct answer *answer);
