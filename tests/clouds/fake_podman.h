/* SPDX-License-Identifier: Apache-2.0 */
/* A fake of the container and image API that Podman and Docker share, at a Unix socket. It
 * refuses requests that are malformed, or that give a container more access to the machine than it
 * should have. */
#pragma once

#include "tests/clouds/fake_server.h"

struct fake_podman {
    struct fake_server *server;
    json_t *images;     /* the ids of the images on this machine, by name */
    json_t *registry;   /* the ids of the images that can be pulled, by name */
    json_t *containers; /* by name: {"Config", "State"} */
    json_t *calls;      /* "METHOD path", in order */
    char problem[256];  /* what was wrong with the first malformed or unsafe request; "": nothing */
    /* Called when a container starts or stops; can be NULL. */
    void (*on_running)(void *context, bool runs);
    void *context;
};

void fake_podman_start(struct fake_podman *podman, const char *path); /* path: of the Unix socket */
void fake_podman_stop(struct fake_podman *podman);
/* Returns how often the call, such as "GET /_ping", was made. */
size_t fake_podman_count(const struct fake_podman *podman, const char *call);
