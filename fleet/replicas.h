/* SPDX-License-Identifier: Apache-2.0 */
/* Whether one server answers under an address, or several in turns (a balancer before replicas):
 * told by scrapes of its metrics that follow one another. Private to fleet/ and to the tools that
 * show metrics. */
#pragma once

#include "base/net/endpoint.h"
#include "fleet/engine_metrics.h"

struct small_request;

/* What the scrapes so far showed; zero: none yet. */
struct replicas {
    struct engine_metrics_snapshot latest, before_fall;
    int64_t scrapes;
    double newest_start_s; /* of the processes that answered */
    int falls;             /* counters fell, or another process answered: */
    int newer;             /* of those, one that says that it started later */
    bool returned;         /* one that answered before */
};

void replicas_note(struct replicas *instances, const struct engine_metrics_snapshot *snapshot);
/* Several answer in turns: what is counted is of some of the requests. */
bool replicas_are_several(const struct replicas *instances);
/* One process answered, then another. */
bool replicas_have_restarted(const struct replicas *instances);

/* Of a scrape that stands in a long row of them: true where several answer. Asks again, at once, as
 * far as the row does not tell: at its start, after counters fell, and where the server does not
 * say when it started. */
bool replicas_check(const struct small_request *ask, const struct engine_metrics_snapshot *snapshot,
                    struct replicas *instances);

/* Whether a server can be watched: within 5 s it tells its metrics, and is one. UPSTREAM why not.
 */
CHECKED bool replicas_try(const struct endpoint *endpoint, struct error *error);

/* One sentence of such an address, for people. */
#define REPLICAS_SEVERAL                                                                           \
    "several instances answer in turns under this address, and counters that are now of one and "  \
    "now of another tell nothing: register each instance by its own address"
