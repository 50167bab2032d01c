/* SPDX-License-Identifier: Apache-2.0 */
/* deployment_update with `recipe` or `overrides`: instead of changing the registry, it plans a
 * change to a managed server on its platform. */
#pragma once

#include "handlers/tool.h"
#include "store/ledger/deployments.h"

#define PARAMS_MANAGED_UPDATE                                                                      \
    {                                                                                              \
        "recipe",                                                                                  \
        VALUE_TEXT,                                                                                \
        .low = 1,                                                                                  \
        .high = 63,                                                                                \
        .rare = true,                                                                              \
        .help = "If managed: plans a switch to this recipe; it can be the current one."            \
    },                                                                                             \
    {                                                                                              \
        "overrides", VALUE_TEXT_MAP,                                                               \
            .high = 32, .item_high = 200, .rare = true,                                            \
            .help = "Plans other values where the recipe allows overrides; {}: its own values."    \
    }

/* *requested: whether the call plans a change to the server itself. INVALID: the call plans one,
 * but also has arguments for a change to the registry. */
CHECKED bool managed_update_is_requested(const struct call *call, bool *requested,
                                         struct error *error);
/* Makes and stores the plan, and answers with it. */
CHECKED bool managed_update_plan(struct call *call, const struct deployment *deployment,
                                 struct answer *answer, struct error *error);
/* FORBIDDEN: the call would change the address of a managed deployment, but the platform assigns
 * that address. */
CHECKED bool managed_update_check_url(const struct call *call, const struct deployment *before,
                                      const struct deployment *after, struct error *error);
