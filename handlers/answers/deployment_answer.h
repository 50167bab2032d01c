/* SPDX-License-Identifier: Apache-2.0 */
/* Deployments as tools show them. */
#pragma once

#include "handlers/answer.h"
#include "store/ledger/deployments.h"

extern const struct field deployment_answer_fields[];
json_t *deployment_answer_json(const struct deployment *deployment); /* new reference */
/* What the server reported about its model and engine; new reference. */
json_t *deployment_answer_facts_json(const struct model_facts *facts);
/* Adds the registered settings (without the name and the URL), then the owner: "hardware L4, chips
 * 2, owner alice". */
void deployment_answer_describe(const struct deployment *deployment, struct text *out);
