/* SPDX-License-Identifier: Apache-2.0 */
#include "server/program/serving.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/core/memory.h"
#include "handlers/charts/pictures.h"
#include "handlers/deployments/health_memory.h"
#include "handlers/sweeps/reviewed_plans.h"
#include "handlers/tool.h"
#include "server/program/admin.h"
#include "server/program/audit_notes.h"
#include "server/program/fleet_host.h"
#include "server/program/housekeeping.h"
#include "server/program/server.h"
#include "store/ledger/disk_space.h"
#include "store/ledger/store.h"

#define STORE_READERS 4
#define REQUESTS_MS 2000 /* how long requests may take to finish when the process ends */
#define JOBS_MS 3500     /* how long jobs may take to reach a point from which they can continue */
/* How many seconds serving_stop may take before the process is killed. That loses nothing:
 * everything that was acknowledged is on disk. */
#define STOP_LIMIT_S 8

struct serving {
    struct settings settings;
    char host[256];
    struct server_list *servers; /* the model servers that may be called */
    struct services services;
    struct server *server;
    struct admin *admin;
    struct housekeeping *housekeeping;
    struct fleet_host *fleet;
    bool announced; /* audit_note_start was called */
};

static unsigned count_readers(const struct settings *settings)
{
    return STORE_READERS + (unsigned)settings->workers + PAGE_WORKERS;
}

static CHECKED bool create_server(struct serving *serving, struct error *error)
{
    TEXT_AUTO instructions = { 0 };
    struct server_parts parts = {
        .settings = &serving->settings,
        .services = &serving->services,
        .tools = tools,
        .resources = resources,
        .prompts = prompts,
    };

    tools_instructions(&instructions);
    parts.instructions = text_string(&instructions);
    return server_create(&parts, &serving->server, error);
}

static CHECKED bool read_servers(struct serving *serving, struct error *error)
{
    struct error problem;

    if (!server_list_create(serving->settings.allowed_servers, &serving->servers, &problem))
        return error_set(error, problem.kind, "allowed_servers: %s", problem.message);
    serving->services.access.servers = serving->servers;
    return true;
}

static CHECKED bool open_store(struct serving *serving, struct error *error)
{
    const struct settings *settings = &serving->settings;
    struct services *services = &serving->services;

    store_use_password_file(settings->database_password_file);
    if (!store_open(settings->data, settings->database, count_readers(settings), &services->store,
                    error))
        return false;
    services->access.store = services->store;
    disk_space_reserve(services->store, settings->disk_reserve_bytes, DISK_SPACE_SHARE);
    return audit_notes_use_key(services->store, settings->data, settings->audit_key, error);
}

static CHECKED bool create_fleet(struct serving *serving, struct error *error)
{
    if (!fleet_host_create(&serving->settings, &serving->services, &serving->fleet, error))
        return false;
    serving->services.fleet = fleet_host_frame(serving->fleet);
    serving->services.access.locks = fleet_host_locks(serving->fleet);
    return true;
}

static bool announce(struct serving *serving)
{
    audit_note_start(serving->services.store, &serving->settings);
    serving->announced = true;
    return true;
}

/* Opens the data folder and the port before jobs run or anybody is served. */
static CHECKED bool build(struct serving *serving, struct error *error)
{
    struct settings *settings = &serving->settings;
    struct services *services = &serving->services;

    gethostname(serving->host, sizeof serving->host - 1);
    *services = (struct services){
        .access = { .secrets_folder = settings->secrets },
        .storage_limit_bytes = settings->storage_limit_bytes,
        .sweep_shards = (unsigned)settings->sweep_shards,
        .sweeps_per_principal = settings->sweeps_per_principal,
        .version = OPSBRAIN_VERSION,
        .host = serving->host,
    };
    services->calibration = calibration_create();
    services->health = health_memory_create();
    services->pictures = pictures_create(PICTURES_BYTES_MAX);
    services->reviewed_plans = reviewed_plans_create();
    return read_servers(serving, error) && catalog_create(&services->catalog, error)
           && recipe_book_create(settings->recipes, &services->recipes, error)
           && price_book_create(&services->prices, error) && open_store(serving, error)
           && create_fleet(serving, error) && create_server(serving, error)
           && scraper_create(&services->access, &services->scraper, error)
           && job_pool_create(services->store, job_kinds, (unsigned)settings->sweep_workers,
                              services, &services->jobs, error)
           && admin_create(settings->data, &services->access, serving->server->authority,
                           server_address(serving->server), &serving->admin, error)
           && announce(serving)
           && housekeeping_create(serving->server, &serving->housekeeping, error)
           && fleet_host_start(serving->fleet, serving->server->notifier, error)
           && server_start(serving->server, error);
}

void serving_stop(struct serving *serving, const char *why)
{
    struct services *services = &serving->services;

    alarm(STOP_LIMIT_S);
    admin_destroy(serving->admin);
    housekeeping_destroy(serving->housekeeping);
    fleet_host_stop(serving->fleet);
    if (serving->server != NULL)
        server_stop(serving->server, REQUESTS_MS);
    job_pool_destroy(services->jobs, JOBS_MS);
    scraper_destroy(services->scraper);
    server_destroy(serving->server);
    if (serving->announced)
        audit_note_stop(services->store, why);
    fleet_host_destroy(serving->fleet);
    store_close(services->store);
    catalog_destroy(services->catalog);
    recipe_book_destroy(services->recipes);
    price_book_destroy(services->prices);
    calibration_destroy(services->calibration);
    health_memory_destroy(services->health);
    pictures_destroy(services->pictures);
    reviewed_plans_destroy(services->reviewed_plans);
    server_list_destroy(serving->servers);
    free(serving);
}

bool serving_start(const struct settings *settings, struct serving **out, struct error *error)
{
    struct serving *serving = memory_zeroed(1, sizeof *serving);

    serving->settings = *settings;
    if (!build(serving, error)) {
        serving_stop(serving, error->message);
        return false;
    }
    *out = serving;
    return true;
}

const char *serving_address(const struct serving *serving)
{
    return server_address(serving->server);
}
