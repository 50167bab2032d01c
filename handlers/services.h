/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of the process that tools can use. server/ creates them; tools borrow them. */
#pragma once

#include "base/llm/catalog.h"
#include "bench/cell/calibration.h"
#include "fleet/recipes/price_book.h"
#include "fleet/recipes/recipe_book.h"
#include "fleet/scraper.h"
#include "fleet/secret_access.h"
#include "jobs/job_pool.h"
#include "store/ledger/store.h"

struct fleet_frame; /* fleet/managed/fleet_frame.h */
struct health_memory;
struct pictures;
struct reviewed_plans;

struct services {
    struct store *store;
    struct job_pool *jobs;
    struct scraper *scraper;
    struct catalog *catalog;     /* of hardware and models; NULL: there is no catalogue */
    struct recipe_book *recipes; /* the program's recipes, and those in the team's folder */
    struct price_book *prices;
    struct access access; /* for calls to model servers */
    struct health_memory *health;
    struct pictures *pictures;    /* charts that were drawn; NULL: none are kept */
    int64_t storage_limit_bytes;  /* maximum that each principal except admins can store; 0: no
                                     limit */
    unsigned sweep_shards;        /* maximum number of load threads for a cell */
    int64_t sweeps_per_principal; /* maximum number of each principal's sweeps that are queued or
                                     running at once; 0: no limit */
    struct reviewed_plans *reviewed_plans; /* kept for sweep_start */
    struct calibration *calibration;       /* of the load generator; NULL: sweeps run without it */
    const struct fleet_frame *fleet; /* deploys model servers; NULL: deploying is impossible */
    const char *version, *host;      /* opsbrain's version and this host's name, for provenance */
};
