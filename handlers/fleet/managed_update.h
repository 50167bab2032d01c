/* SPDX-License-Identifier: Apache-2.0 */
/* deployment_update of a server that opsbrain deployed: not a change of the registry, but a plan of
 * the platform's change. */
#pragma once

#include "handlers/tool.h"
#include "store/ledger/deployments.h"

#define PARAMS_MANAGED_UPDATE                                                                      \
    { "recipe",                                                                                    \
      VALUE_TEXT,                                                                                  \
      .low = 1,                                                                                    \
      .high = 63,                                                                                  \
      .rare = true,                                                                                \
      .help = "Of a managed deployment: plans a change to this recipe, or the same one again." },  \
    {                                                                                              \
        "overrides", VALUE_TEXT_MAP,                                                               \
            .high = 32, .item_high = 200, .rare = true,                                            \
            .help = "The same for the members that the recipe opens; {}: none."                    \
    }

/* Whether the call is about the server itself. INVALID: about its settings, too. */
CHECKED bool managed_update_is_asked(const struct call *call, bool *asked, struct error *error);
/* Makes and stores the plan, and answers with it. */
CHECKED bool managed_update_plan(struct call *call, const struct deployment *deployment,
                                 struct answer *answer, struct error *error);
/* FORBIDDEN for another address of a managed deployment, which only its platform decides. */
CHECKED bool managed_update_check_url(const struct call *call, const struct deployment *before,
                                      const struct deployment *after, struct error *error);
