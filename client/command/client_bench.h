/* SPDX-License-Identifier: Apache-2.0 */
/* opsbrain bench: benchmarks a deployment or the model server at a URL, and reports the results. */
#pragma once

#include "client/command/client.h"

/* How bench finds the server that has a data folder open, or starts a server. */
struct bench_host {
    /* Finds the server that has the data folder open; url[0] == '\0': none has. */
    CHECKED bool (*find)(const char *folder, char url[LOGIN_URL_SIZE], struct error *error);
    /* Starts a server in this process, on a loopback address. *server: the argument for `stop`. */
    CHECKED bool (*start)(const char *folder, void **server, char url[LOGIN_URL_SIZE],
                          struct error *error);
    void (*stop)(void *server);
};

struct bench {
    const struct bench_host *host;
    struct client client;
    const char *data, *output, *plan_digest; /* values of the flags; NULL: not given */
    bool yes;                                /* --yes: starts the sweep without asking */
    bool by_url;                             /* the command names the URL of a model server */
    void *server;                            /* the server that this command started; NULL: none */
    char deployment[64]; /* the URL's deployment; "": not found yet, or no URL is given */
    bool registered;     /* this command registered that deployment */
    char sweep[64];      /* the sweep's id; "": not known yet */
    char folder[512];    /* the data folder of `server`; "": none */
};

/* Carries out the command; argv[0] is "bench". Returns the exit status. */
int client_bench(const struct bench_host *host, int argc, char *const *argv);

/* Chooses the server that has the data folder open; if none has, starts one in this process. */
CHECKED bool bench_target_serve(struct bench *bench, struct error *error);
/* Finds or starts an opsbrain server that can measure the model server at `url`, and finds or
 * registers the deployment with this URL. */
CHECKED bool bench_target_find(struct bench *bench, const char *url, struct error *error);
/* Checks that the model servers named in a plan's arguments answer. If one cannot be reached, and
 * this command has registered a deployment, removes that deployment. */
CHECKED bool bench_target_check(struct bench *bench, const json_t *arguments, struct error *error);

/* Shows the progress of a sweep until the sweep has ended, or until Ctrl-C, which does not cancel
 * the sweep. *status: the exit status. */
CHECKED bool bench_follow(struct bench *bench, int *status, struct error *error);
