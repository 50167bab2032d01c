/* SPDX-License-Identifier: Apache-2.0 */
/* Judges from successive scrapes whether one server answers at an address, or several in turn
 * (replicas behind a load balancer). Private to fleet/, metrics_show and metrics_watch. */
#pragma once

#include "base/net/endpoint.h"
#include "fleet/engine_metrics.h"

struct small_request;

/* What the scrapes have shown so far; all zero: no scrape yet. */
struct replicas {
    struct engine_metrics_snapshot latest, before_fall;
    int64_t scrapes;
    double newest_start_s; /* the latest start time of a process that answered; NaN: not known */
    int falls;             /* how often counters fell, or another process answered */
    int newer;             /* how many of the falls came with a later start time */
    /* A process answered after one that started later, or again after a different one. */
    bool returned;
};

/* Notes one scrape, which must be later than those already noted. */
void replicas_note(struct replicas *instances, const struct engine_metrics_snapshot *snapshot);
/* Returns true if several instances answer in turn, so that the counters of a scrape cover only
 * some of the requests. */
bool replicas_are_several(const struct replicas *instances);
/* Returns true if counters fell or a different process answered, but not because several instances
 * answer in turn. */
bool replicas_have_restarted(const struct replicas *instances);

/* Notes one scrape of a long series, and returns true if several instances answer. Scrapes a few
 * more times if this scrape begins the series, if counters fell or another process answered, or if
 * the server does not report its start time. After this function has returned true, the next scrape
 * begins a new series. */
bool replicas_check(const struct small_request *ask, const struct engine_metrics_snapshot *snapshot,
                    struct replicas *instances);

/* Checks that a server can be watched: it must report its metrics within 5 s, and a few more
 * scrapes must reveal no other instance at its address. If it cannot, the error says why. */
CHECKED bool replicas_try(const struct endpoint *endpoint, struct error *error);

/* The error for an address at which several instances answer. */
#define REPLICAS_SEVERAL                                                                           \
    "several instances answer in turn at this address, so differences between counters mean "      \
    "nothing: register each instance under its own address"
