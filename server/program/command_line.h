/* SPDX-License-Identifier: Apache-2.0 */
/* The actor that is recorded for changes made on the command line. */
#pragma once

#include "base/json/json.h"
#include "store/ledger/change.h"

/* Initializes this actor: the local admin. The request's member "client" comes from
 * admin_set_client. */
#define COMMAND_LINE(request)                                                                      \
    {                                                                                              \
        .principal = "local", .role = "admin",                                                     \
        .client = json_get_text(request, "client", "command line"), .request_id = ""               \
    }
