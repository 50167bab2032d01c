/* SPDX-License-Identifier: Apache-2.0 */
/* The server that `./run bench mcp` and `./run bench streams` measure: opsbrain's server with an
 * echo as its only tool, without resources, prompts or kinds of jobs. It has the flags of
 * `opsbrain serve`. */

#include <signal.h>
#include <stdio.h>

#include "base/core/log.h"
#include "server/program/server.h"
#include "store/ledger/store.h"

#define STORE_READERS 4
#define STOP_LIMIT_MS 1000

static bool run_echo(struct call *call, struct answer *answer, struct error *error)
{
    const char *text = call_text(call, "text");

    (void)error;
    answer->structured = json_object();
    json_object_set_new(answer->structured, "text", json_string(text));
    text_add(&answer->text, text);
    return true;
}

static const struct param params[] = {
    { "text", VALUE_TEXT, .required = true, .high = 10000, .help = "The text to return." },
    { 0 },
};
static const struct field fields[] = {
    { "text", VALUE_TEXT, .help = "The same text." },
    { 0 },
};
static const struct tool echo = {
    .name = "echo",
    .title = "Echo",
    .help = "Returns its text.",
    .params = params,
    .fields = fields,
    .role = ROLE_VIEWER,
    .placement = PLACE_INLINE,
    .read_only = true,
    .run = run_echo,
};
static const struct tool *const echo_alone[] = { &echo, NULL };
static const struct job_kind no_kinds[] = { { 0 } };

static bool start(const struct settings *settings, struct services *services,
                  struct server **server, struct error *error)
{
    const struct server_parts parts = {
        .settings = settings,
        .services = services,
        .tools = echo_alone,
        .instructions = "Try echo.",
    };

    return store_open(settings->data, "", STORE_READERS, &services->store, error)
           && job_pool_create(services->store, no_kinds, 1, services, &services->jobs, error)
           && server_create(&parts, server, error) && server_start(*server, error);
}

int main(int argc, char **argv)
{
    struct services services = { .version = OPSBRAIN_VERSION };
    struct server *server = NULL;
    struct settings settings;
    struct error error;
    sigset_t ending;
    int number;

    signal(SIGPIPE, SIG_IGN);
    sigemptyset(&ending);
    sigaddset(&ending, SIGTERM);
    sigaddset(&ending, SIGINT);
    pthread_sigmask(SIG_BLOCK, &ending, NULL);
    if (!settings_read(argc, argv, &settings, &error)
        || !start(&settings, &services, &server, &error)) {
        fprintf(stderr, "bench_echo: %s\n", error.message);
        return 1;
    }
    log_info("echo listens on %s", server_address(server));
    sigwait(&ending, &number);
    server_stop(server, STOP_LIMIT_MS);
    job_pool_destroy(services.jobs, STOP_LIMIT_MS);
    server_destroy(server);
    store_close(services.store);
    return 0;
}
