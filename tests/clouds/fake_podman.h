/* SPDX-License-Identifier: Apache-2.0 */
/* The API that Podman and Docker share, at a socket: containers and images, strict about what it
 * is given, and about what this machine may not give a container. */
#pragma once

#include "tests/clouds/fake_server.h"

struct fake_podman {
    struct fake_server *server;
    json_t *images;     /* by name: id */
    json_t *registry;   /* by name: id of what can be pulled */
    json_t *containers; /* by name: {"Config", "HostConfig", "State"} */
    json_t *calls;      /* "METHOD path", in order */
    char problem[256];  /* the first request that was not as it should be */
    void (*on_running)(void *context, bool runs); /* a container was started or ended; NULL */
    void *context;
};

void fake_podman_start(struct fake_podman *podman, const char *path);
void fake_podman_stop(struct fake_podman *podman);
/* Whether a call was made, and how often. */
size_t fake_podman_count(const struct fake_podman *podman, const char *call);
