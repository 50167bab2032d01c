/* SPDX-License-Identifier: Apache-2.0 */
/* Identifies who is at the command line. */
#pragma once

#include "base/json/json.h"
#include "store/ledger/change.h"

/* Initializes the actor of a change made on the command line: the local admin. The request's member
 * "client" comes from admin_set_client. */
#define COMMAND_LINE(request)                                                                      \
    {                                                                                              \
        .principal = "local", .role = "admin",                                                     \
        .client = json_get_text(request, "client", "command line"), .request_id = ""               \
    }
