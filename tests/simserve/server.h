/* SPDX-License-Identifier: Apache-2.0 */
/* The server: one thread, one epoll set, one heap of timers. */
#pragma once

#include <sys/queue.h>

#include "base/core/error.h"
#include "base/core/text.h"
#include "tests/simserve/config.h"
#include "tests/simserve/metrics.h"
#include "tests/simserve/model.h"
#include "tests/simserve/timers.h"

struct connection;
TAILQ_HEAD(connection_list, connection);

struct server {
    struct config config;
    int epoll_fd;
    int listen_fd;
    int signal_fd;
    bool stopping;
    int64_t started_ms; /* UTC */
    struct timers timers;
    struct connection_list open;
    struct connection_list ready; /* connections that may have input to process */
    struct connection_list dead;  /* connections closed in this turn, freed at its end */
    struct tokenizer *tokenizer;
    struct prefix_cache *prefix_cache;
    struct truth *truth;
    struct model model;
    struct metrics metrics;
    struct text scratch;     /* buffer for the event being written */
    uint64_t requests;       /* to the generation endpoints, since the start or the last reset */
    char input_chunk[65536]; /* buffer for what was just received */
};

/* Starts to listen, and sets *port. Returns NULL if that fails. Free with server_destroy. */
struct server *server_create(const struct config *config, uint16_t *port, struct error *error);
void server_destroy(struct server *server);
/* Serves until SIGTERM or SIGINT. */
void server_run(struct server *server);
