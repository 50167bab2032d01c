/* SPDX-License-Identifier: Apache-2.0 */
/* simserve: a model server with vLLM's HTTP API and known timing. */

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "tests/simserve/server.h"

/* Raises the soft limit on open files to the hard limit, because each connection needs a file
 * descriptor. */
static void raise_file_limit(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

static bool write_pid(const char *path, struct error *error)
{
    FILE *file;

    if (path[0] == '\0')
        return true;
    file = fopen(path, "w");
    if (file == NULL || fprintf(file, "%d\n", (int)getpid()) < 0 || fclose(file) != 0)
        return error_set(error, ERROR_INVALID, "cannot write --pid-file %s", path);
    return true;
}

static void announce(const struct config *config, uint16_t port)
{
    int host = (int)strcspn(config->listen, ":");

    printf("listening on %.*s:%d\n", host, config->listen, port);
    fflush(stdout);
}

static bool run(int argc, char **argv, struct error *error)
{
    struct config config;
    struct server *server;
    uint16_t port;

    config_init(&config);
    if (!config_read_flags(&config, argc, argv, error))
        return false;
    raise_file_limit();
    server = server_create(&config, &port, error);
    if (server == NULL)
        return false;
    if (!write_pid(config.pid_file, error)) {
        server_destroy(server);
        return false;
    }
    announce(&config, port);
    server_run(server);
    server_destroy(server);
    return true;
}

int main(int argc, char **argv)
{
    struct error error;

    if (argc == 2 && strcmp(argv[1], "--help") == 0) {
        config_help(stdout);
        return 0;
    }
    if (run(argc, argv, &error))
        return 0;
    fprintf(stderr, "simserve: %s\n", error.message);
    return 1;
}
