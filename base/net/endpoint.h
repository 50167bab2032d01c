/* SPDX-License-Identifier: Apache-2.0 */
/* A model server as it is called: address, model, credential. Resolved from a deployment directly
 * before use. */
#pragma once

#include "base/net/secrets.h"
#include "base/net/server_list.h"

struct endpoint {
    char url[1025];                    /* without a trailing '/' or '/v1' */
    char model[256];                   /* as requests name it */
    char bearer[SECRET_VALUE_SIZE];    /* "" for none; never shown */
    const struct server_list *servers; /* servers that its address must be one of; NULL: any */
};
