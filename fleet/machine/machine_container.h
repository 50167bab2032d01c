/* SPDX-License-Identifier: Apache-2.0 */
/* A server in a container, by the API that Podman and Docker share. Private to fleet/machine. */
#pragma once

#include <jansson.h>

#include "base/core/error.h"

/* The body of the request to create it: no privileges, not the machine's network, and nothing
 * mounted but the folder of models, read-only. New reference; it contains `key`. */
json_t *machine_container_body(const json_t *record, const char *key);
/* The id of the machine's image of this name; NOT_FOUND: it has none. */
CHECKED bool machine_container_image(const char *socket, const char *name, char out[128],
                                     struct error *error);
