/* SPDX-License-Identifier: Apache-2.0 */
/* This machine in the role of a cloud: opsbrain itself answers the calls that a cloud would get
 * (fleet/cloud/cloud.h), and runs only what an admin has allowed. Each server is started and
 * watched by its own watchdog, a small process that keeps running when opsbrain ends. */
#pragma once

#include "fleet/cloud/cloud.h"

struct machine_settings {
    const char *folder; /* contains a folder with a record for each server */
    const char *work; /* contains the programs' working folders; "": a default (machine_server.c) */
    const char *programs;   /* absolute paths of allowed programs, separated by commas; "": none */
    const char *models;     /* folder of models, which containers see read-only; "": none */
    const char *containers; /* path of Podman's or Docker's socket; "": no containers are run */
    const char *ollama;     /* base URL of this machine's Ollama; "": it is not used */
    const char *watchdog; /* program that runs as a watchdog if its first argument is "watchdog" */
};

struct machine; /* thread-safe */
/* Strings are copied. INVALID: the message names the setting that is wrong. Free with
 * machine_destroy. */
CHECKED bool machine_create(const struct machine_settings *settings, struct machine **out,
                            struct error *error);
/* Servers and watchdogs keep running. Does nothing for NULL. */
void machine_destroy(struct machine *machine);
/* Returns the value for the member `machine` of a struct cloud_config. Borrowed. */
const struct cloud_machine *machine_as_cloud(const struct machine *machine);

/* FORBIDDEN on Cloud Run and in a Kubernetes pod, where opsbrain does not have a
 * machine to itself. */
CHECKED bool machine_check_place(struct error *error);

/* The main function of a watchdog. Its only argument, argv[1], is the absolute path of the record's
 * folder. The watchdog reads from standard input what to watch, and answers on standard output.
 * Returns the exit status. */
int machine_watch(int argc, char *const *argv);
