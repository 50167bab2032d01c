/* SPDX-License-Identifier: Apache-2.0 */
/* This machine as a platform: servers that are started here, asked for by the same calls as a
 * cloud's (fleet/cloud/cloud.h), which this process answers itself. What an admin did not list is
 * never run. Each server has a watchdog of its own, a small process that outlives this one. */
#pragma once

#include "fleet/cloud/cloud.h"

struct machine_settings {
    const char *folder;     /* of the records: a folder for each server */
    const char *work;       /* of the programs' working folders; "": chosen */
    const char *programs;   /* absolute paths that may be run, with commas; "": none */
    const char *models;     /* that containers may see, read-only; "": none */
    const char *containers; /* socket of Podman or Docker; "": none are run */
    const char *ollama;     /* base URL of this machine's Ollama; "": it is not asked */
    const char *watchdog;   /* the program that is the watchdog if called with "watchdog" */
};

struct machine; /* thread-safe */
/* Strings are copied. INVALID names the setting that is wrong. */
CHECKED bool machine_create(const struct machine_settings *settings, struct machine **out,
                            struct error *error);
void machine_destroy(struct machine *machine); /* servers and watchdogs stay; NULL is fine */
/* For struct cloud_config; borrowed from the machine. */
const struct cloud_machine *machine_as_cloud(const struct machine *machine);

/* FORBIDDEN where there is no machine of one's own: on Cloud Run, and in a pod of Kubernetes. */
CHECKED bool machine_check_place(struct error *error);

/* The program of a watchdog: what to watch is on standard input, the answer on standard output.
 * Returns the exit status. */
int machine_watch(int argc, char *const *argv);
