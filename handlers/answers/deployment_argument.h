/* SPDX-License-Identifier: Apache-2.0 */
/* The deployment that a call is about, given by its registered name. */
#pragma once

#include "handlers/answer.h"
#include "store/ledger/deployments.h"

#define PARAM_DEPLOYMENT                                                                           \
    {                                                                                              \
        "deployment", VALUE_TEXT, .low = 1, .high = 63,                                            \
                                  .help = "Registered name; not needed if there is only one."      \
    }

/* Finds the deployment by the argument `deployment`; if it is not given, the only one registered.
 * NOT_FOUND and INVALID list the names. */
CHECKED bool deployment_argument(const struct call *call, struct deployment *out,
                                 struct error *error);
