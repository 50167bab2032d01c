/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of the process that tools may use. server/ creates them; tools borrow them. */
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
    struct catalog *catalog;     /* hardware and models; NULL: there is none */
    struct recipe_book *recipes; /* recipes of the program and of the team's folder */
    struct price_book *prices;
    struct access access; /* for calls to model servers */
    struct health_memory *health;
    struct pictures *pictures;    /* charts that were drawn; NULL: none are kept */
    int64_t storage_limit_bytes;  /* most that a principal other than an admin may have stored; 0:
                                     no limit */
    unsigned sweep_shards;        /* most load threads of a cell */
    int64_t sweeps_per_principal; /* most sweeps of a principal that are queued or running at
                                     once; 0: no limit */
    struct reviewed_plans *reviewed_plans; /* kept for sweep_start */
    struct calibration *calibration;       /* of the load generator; NULL: sweeps run without it */
    const struct fleet_frame *fleet; /* deploys model servers; NULL: deploying is not possible */
    const char *version, *host;      /* recorded as the provenance of measurements */
};
