/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a server in a container, through the API that Podman and Docker share. Private to
 * fleet/machine. */
#pragma once

#include <jansson.h>

#include "base/core/error.h"

/* Returns the body of the request that creates the container. The container has no privileges and
 * does not share the machine's network. It sees none of the machine's files, with one exception:
 * if the record says where to mount the folder of models, it can read that folder. The body
 * contains `key` if the record names a variable for it. New reference. */
json_t *machine_container_body(const json_t *record, const char *key);
/* Finds the id of the image `name`. NOT_FOUND if this machine does not have it. */
CHECKED bool machine_container_image(const char *socket, const char *name, char out[128],
                                     struct error *error);
