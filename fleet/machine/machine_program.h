/* SPDX-License-Identifier: Apache-2.0 */
/* Starts a program as a child of its watchdog, without a shell, and with none of opsbrain's file
 * descriptors or environment variables. Private to fleet/machine. */
#pragma once

#include <jansson.h>
#include <sys/types.h>

#include "base/core/error.h"

struct machine_program {
    const char *path;          /* absolute */
    const json_t *arguments;   /* strings, without the program itself */
    const json_t *environment; /* {"NAME": "VALUE"}, in addition to what every program gets */
    const char *key_variable;  /* name of the variable with `key`; "": the program gets no key */
    const char *key;
    const char *work; /* the program's working folder, HOME and TMPDIR */
    uid_t account;    /* user id for the program; 0: opsbrain's own */
    int output;       /* descriptor that becomes the program's standard output and error */
};

/* Starts the program in a session and a process group of its own; it is killed when its parent
 * ends. Returns false, with the reason in *error, if it cannot be started or executed. The calling
 * process must have a single thread. */
CHECKED bool machine_program_start(const struct machine_program *program, pid_t *pid,
                                   struct error *error);
/* Returns true if something listens on this port at an address other than loopback. */
bool machine_program_is_exposed(int64_t port);
