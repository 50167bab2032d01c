/* SPDX-License-Identifier: Apache-2.0 */
/* opsbrain serve: builds the parts in order, waits for a signal, takes them down in reverse. */

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/core/log.h"
#include "handlers/deployments/health_memory.h"
#include "handlers/sweeps/reviewed_plans.h"
#include "handlers/tool.h"
#include "server/program/admin.h"
#include "server/program/audit_notes.h"
#include "server/program/commands.h"
#include "server/program/housekeeping.h"
#include "server/program/process.h"
#include "server/program/server.h"
#include "store/ledger/disk_space.h"
#include "store/ledger/store.h"

#define STORE_READERS 4
#define REQUESTS_MS 2000 /* for requests to finish when the process ends */
#define JOBS_MS 3500     /* for jobs to reach a point from which they can continue */
#define STOP_LIMIT_S 8   /* then the process is ended: everything acknowledged is on disk */

struct process {
    struct settings settings;
    char host[256];
    struct server_list *servers; /* that may be called */
    struct services services;
    struct server *server;
    struct admin *admin;
    struct housekeeping *housekeeping;
    bool announced; /* in the audit log */
};

/* Called before any thread is created, so that all of them leave these signals to main. */
static void claim_signals(sigset_t *ending)
{
    signal(SIGPIPE, SIG_IGN);
    sigemptyset(ending);
    sigaddset(ending, SIGTERM);
    sigaddset(ending, SIGINT);
    pthread_sigmask(SIG_BLOCK, ending, NULL);
}

static unsigned count_readers(const struct settings *settings)
{
    return STORE_READERS + (unsigned)settings->workers;
}

static CHECKED bool create_server(struct process *process, struct error *error)
{
    TEXT_AUTO instructions = { 0 };
    struct server_parts parts = {
        .settings = &process->settings,
        .services = &process->services,
        .tools = tools,
        .resources = resources,
        .prompts = prompts,
    };

    tools_instructions(&instructions);
    parts.instructions = text_string(&instructions);
    return server_create(&parts, &process->server, error);
}

static CHECKED bool read_servers(struct process *process, struct error *error)
{
    struct error problem;

    if (!server_list_create(process->settings.allowed_servers, &process->servers, &problem))
        return error_set(error, problem.kind, "allowed_servers: %s", problem.message);
    process->services.access.servers = process->servers;
    return true;
}

static CHECKED bool open_store(struct process *process, struct error *error)
{
    const struct settings *settings = &process->settings;
    struct services *services = &process->services;

    if (!store_open(settings->data, count_readers(settings), &services->store, error))
        return false;
    services->access.store = services->store;
    disk_space_reserve(services->store, settings->disk_reserve_bytes, DISK_SPACE_SHARE);
    return audit_notes_use_key(services->store, settings->data, settings->audit_key, error);
}

static bool announce(struct process *process)
{
    audit_note_start(process->services.store, &process->settings);
    process->announced = true;
    return true;
}

/* The port and the folder are taken before jobs run or anyone is served. */
static CHECKED bool start(struct process *process, struct error *error)
{
    struct settings *settings = &process->settings;
    struct services *services = &process->services;

    gethostname(process->host, sizeof process->host - 1);
    *services = (struct services){
        .access = { .secrets_folder = settings->secrets },
        .storage_limit_bytes = settings->storage_limit_bytes,
        .sweep_shards = (unsigned)settings->sweep_shards,
        .sweeps_per_principal = settings->sweeps_per_principal,
        .version = OPSBRAIN_VERSION,
        .host = process->host,
    };
    services->calibration = calibration_create();
    services->health = health_memory_create();
    services->planned = reviewed_plans_create();
    return read_servers(process, error) && catalog_create(&services->catalog, error)
           && open_store(process, error) && create_server(process, error)
           && scraper_create(&services->access, &services->scraper, error)
           && job_pool_create(services->store, job_kinds, (unsigned)settings->sweep_workers,
                              services, &services->jobs, error)
           && admin_create(settings->data, &services->access, process->server->authority,
                           &process->admin, error)
           && announce(process)
           && housekeeping_create(process->server, &process->housekeeping, error)
           && server_start(process->server, error);
}

static void stop(struct process *process, const char *why)
{
    struct services *services = &process->services;

    alarm(STOP_LIMIT_S);
    admin_destroy(process->admin);
    housekeeping_destroy(process->housekeeping);
    if (process->server != NULL)
        server_stop(process->server, REQUESTS_MS);
    job_pool_destroy(services->jobs, JOBS_MS);
    scraper_destroy(services->scraper);
    server_destroy(process->server);
    if (process->announced)
        audit_note_stop(services->store, why);
    store_close(services->store);
    catalog_destroy(services->catalog);
    calibration_destroy(services->calibration);
    health_memory_destroy(services->health);
    reviewed_plans_destroy(services->planned);
    server_list_destroy(process->servers);
}

/* The name of the signal. */
static const char *wait_for_signal(const sigset_t *ending)
{
    int number = 0;

    while (sigwait(ending, &number) != 0)
        continue;
    log_info("stopping: %s", strsignal(number));
    return strsignal(number);
}

int command_serve(int argc, char *const *argv)
{
    struct process process = { 0 };
    struct error error;
    sigset_t ending;

    if (argc > 1 && strcmp(argv[1], "--help") == 0)
        return command_help(1, argv);
    if (!settings_read(argc, argv, &process.settings, &error))
        return command_fail(error.message);
    if (process.settings.hardened)
        process_harden();
    process_limit_memory();
    claim_signals(&ending);
    if (!start(&process, &error)) {
        stop(&process, error.message);
        return command_fail(error.message);
    }
    log_info("opsbrain " OPSBRAIN_VERSION " listens on %s, MCP at /mcp",
             server_address(process.server));
    stop(&process, wait_for_signal(&ending));
    log_info("stopped");
    return 0;
}
