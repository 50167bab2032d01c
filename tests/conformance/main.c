/* SPDX-License-Identifier: Apache-2.0 */
/* conformance_server: opsbrain's server, but with the tools, resources and prompts that the
 * official MCP conformance suite needs instead of opsbrain's own. It accepts the options of
 * `opsbrain serve`. */

#include <signal.h>
#include <stdio.h>

#include "fixtures.h"
#include "server/program/server.h"
#include "store/ledger/store.h"

#define TABLE_LIMIT 64
#define JOBS_AT_ONCE 8

struct process {
    const struct tool *tools[TABLE_LIMIT];
    const struct resource *resources[TABLE_LIMIT];
    const struct prompt *prompts[TABLE_LIMIT];
    struct settings settings;
    struct services services;
    struct server *server;
};

static void collect_fixtures(struct process *process)
{
    const struct tool *const tables[] = { content_tools, asking_tools, notifying_tools,
                                          task_tools };
    size_t count = 0;

    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        for (const struct tool *tool = tables[i]; tool->name != NULL; tool++)
            process->tools[count++] = tool;
    for (size_t i = 0; fixture_resources[i].name != NULL; i++)
        process->resources[i] = &fixture_resources[i];
    for (size_t i = 0; fixture_prompts[i].name != NULL; i++)
        process->prompts[i] = &fixture_prompts[i];
}

static bool start(struct process *process, struct error *error)
{
    const struct server_parts parts = { .settings = &process->settings,
                                        .services = &process->services,
                                        .tools = process->tools,
                                        .resources = process->resources,
                                        .prompts = process->prompts,
                                        .instructions = "Fixtures for the conformance suite." };
    struct services *services = &process->services;

    if (!store_open(process->settings.data, "", 8, &services->store, error))
        return false;
    services->access = (struct access){ .store = services->store, .secrets_folder = "" };
    return job_pool_create(services->store, fixture_job_kinds, JOBS_AT_ONCE, services,
                           &services->jobs, error)
           && server_create(&parts, &process->server, error)
           && server_start(process->server, error);
}

static void stop(struct process *process)
{
    if (process->server != NULL)
        server_stop(process->server, 1000);
    job_pool_destroy(process->services.jobs, 1000);
    server_destroy(process->server);
    store_close(process->services.store);
}

int main(int argc, char **argv)
{
    struct process process = { 0 };
    struct error error;
    sigset_t stop_signals;
    int number;
    bool started;

    signal(SIGPIPE, SIG_IGN);
    sigemptyset(&stop_signals);
    sigaddset(&stop_signals, SIGTERM);
    sigaddset(&stop_signals, SIGINT);
    pthread_sigmask(SIG_BLOCK, &stop_signals, NULL);
    if (argc < 2) {
        fprintf(stderr, "usage: conformance_server serve [option...]\n");
        return 2;
    }
    collect_fixtures(&process);
    started =
        settings_read(argc - 1, argv + 1, &process.settings, &error) && start(&process, &error);
    if (started)
        sigwait(&stop_signals, &number);
    else
        fprintf(stderr, "conformance_server: %s\n", error.message);
    stop(&process);
    return started ? 0 : 1;
}
