/* SPDX-License-Identifier: Apache-2.0 */
/* This machine as a platform: it takes the same calls as a cloud (fleet/cloud/cloud.h), which this
 * process answers itself by starting servers here. Only what an admin has listed is run. Each
 * server has its own watchdog, a small process that outlives this one. */
#pragma once

#include "fleet/cloud/cloud.h"

struct machine_settings {
    const char *folder;     /* has the records: a folder for each server */
    const char *work;       /* has the programs' working folders; "": a default */
    const char *programs;   /* absolute paths that may be run, with commas; "": none */
    const char *models;     /* that containers may see, read-only; "": none */
    const char *containers; /* socket of Podman or Docker; "": none are run */
    const char *ollama;     /* base URL of this machine's Ollama; "": it is not asked */
    const char *watchdog;   /* the program that runs as a watchdog when called with "watchdog" */
};

struct machine; /* thread-safe */
/* Strings are copied. INVALID names the setting that is wrong. */
CHECKED bool machine_create(const struct machine_settings *settings, struct machine **out,
                            struct error *error);
void machine_destroy(struct machine *machine); /* servers and watchdogs stay; NULL is fine */
/* For struct cloud_config; borrowed from the machine. */
const struct cloud_machine *machine_as_cloud(const struct machine *machine);

/* FORBIDDEN where opsbrain does not have the machine to itself: on Cloud Run, and in a Kubernetes
 * pod. */
CHECKED bool machine_check_place(struct error *error);

/* The main function of a watchdog: standard input names what to watch, and the answer goes to
 * standard output. Returns the exit status. */
int machine_watch(int argc, char *const *argv);
