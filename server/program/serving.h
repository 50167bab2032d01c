/* SPDX-License-Identifier: Apache-2.0 */
/* Builds a server with all its parts, and takes it down. */
#pragma once

#include "server/settings/settings.h"

struct serving;

/* Opens the data folder and the port, starts the threads that run jobs and answer requests, and
 * returns. The caller must have blocked the signals that it waits for. Free with serving_stop. */
CHECKED bool serving_start(const struct settings *settings, struct serving **out,
                           struct error *error);
const char *serving_address(const struct serving *serving); /* "127.0.0.1:8080" */
/* Lets requests finish, and lets jobs reach a point from which they can continue. Kills the process
 * if that takes longer than a few seconds. `why` is recorded in the audit log. */
void serving_stop(struct serving *serving, const char *why);
