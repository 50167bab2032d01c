/* SPDX-License-Identifier: Apache-2.0 */
/* Identifies who is at the command line. */
#pragma once

#include "base/json/json.h"
#include "store/ledger/change.h"

/* The actor of a change: the local admin. admin_set_client has set the request's member
 * "client". */
#define COMMAND_LINE(request)                                                                      \
    {                                                                                              \
        .principal = "local", .role = "admin",                                                     \
        .client = json_get_text(request, "client", "command line"), .request_id = ""               \
    }
