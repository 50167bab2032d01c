/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the deployment that a call is about, and checks that it is not in use. */
#pragma once

#include "handlers/answer.h"
#include "store/ledger/deployments.h"

#define PARAM_DEPLOYMENT                                                                           \
    {                                                                                              \
        "deployment", VALUE_TEXT, .low = 1, .high = 63,                                            \
                                  .help = "Registered name; not needed if there is only one."      \
    }

/* Finds the deployment that the argument `deployment` names; without the argument, the only one
 * that is registered. NOT_FOUND: there is no such deployment; INVALID: the argument is missing, and
 * more than one deployment is registered. */
CHECKED bool deployment_argument(const struct call *call, struct deployment *out,
                                 struct error *error);
/* Checks that no sweep is planned or running on the deployment: if the deployment changed now, the
 * sweep's cells could be measured on two different servers, or on none. CONFLICT: there is such a
 * sweep. */
CHECKED bool deployment_argument_check_idle(struct store *store, const char *name,
                                            struct error *error);
