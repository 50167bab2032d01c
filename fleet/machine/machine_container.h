/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a server in a container, through the API that Podman and Docker share. Private to
 * fleet/machine. */
#pragma once

#include <jansson.h>

#include "base/core/error.h"

/* The body of the request that creates the container: no privileges, not the machine's network, and
 * nothing mounted but the folder of models, read-only. New reference; it contains `key` if the
 * record names a variable for it. */
json_t *machine_container_body(const json_t *record, const char *key);
/* The id of the image `name` on this machine. NOT_FOUND: there is no such image here. */
CHECKED bool machine_container_image(const char *socket, const char *name, char out[128],
                                     struct error *error);
