/* SPDX-License-Identifier: Apache-2.0 */
/* Who asks for administration. */
#pragma once

#include "base/json/json.h"
#include "store/ledger/change.h"

/* Who is at the command line: the request says it, for the transport puts it there. */
#define COMMAND_LINE(request)                                                                      \
    {                                                                                              \
        .principal = "local", .role = "admin",                                                     \
        .client = json_get_text(request, "client", "command line"), .request_id = ""               \
    }
