/* SPDX-License-Identifier: Apache-2.0 */
/* A server in a container, by the API that Podman and Docker share. Private to fleet/machine. */
#pragma once

#include <jansson.h>

#include "base/core/error.h"

/* What the socket is asked to create: without privileges, without the machine's network, with
 * nothing mounted but the folder of models, read-only. New reference; `key` is in it. */
json_t *machine_container_body(const json_t *record, const char *key);
/* The id of the image of this name that the machine has; NOT_FOUND: it has none. */
CHECKED bool machine_container_image(const char *socket, const char *name, char out[128],
                                     struct error *error);
