/* SPDX-License-Identifier: Apache-2.0 */
/* Whether one server answers under an address, or several in turns (replicas behind a balancer),
 * judged from successive scrapes of its metrics. Private to fleet/ and to the tools that show
 * metrics. */
#pragma once

#include "base/net/endpoint.h"
#include "fleet/engine_metrics.h"

struct small_request;

/* What the scrapes have shown so far; zero: no scrape yet. */
struct replicas {
    struct engine_metrics_snapshot latest, before_fall;
    int64_t scrapes;
    double newest_start_s; /* of the processes that answered */
    int falls;             /* times that counters fell, or that another process answered: */
    int newer;             /* how many of those reported a later start time */
    bool returned;         /* a process that had answered before answered again */
};

void replicas_note(struct replicas *instances, const struct engine_metrics_snapshot *snapshot);
/* Several answer in turns: the counters cover only some of the requests. */
bool replicas_are_several(const struct replicas *instances);
/* One process answered, then another. */
bool replicas_have_restarted(const struct replicas *instances);

/* For a scrape in a long series: true if several answer. Scrapes again at once if the series is not
 * sufficient: at its start, after counters fell, and if the server does not report its start time.
 */
bool replicas_check(const struct small_request *ask, const struct engine_metrics_snapshot *snapshot,
                    struct replicas *instances);

/* Whether a server can be monitored: within 5 s it reports its metrics, and is a single one.
 * UPSTREAM says why not */
CHECKED bool replicas_try(const struct endpoint *endpoint, struct error *error);

/* A sentence for people about such an address. */
#define REPLICAS_SEVERAL                                                                           \
    "several instances answer in turns under this address, and counters that change between "      \
    "instances mean nothing: register each instance by its own address"
