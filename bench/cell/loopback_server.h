/* SPDX-License-Identifier: Apache-2.0 */
/* A model server without a model, in this process and on loopback: it answers every request at once
 * with a stream of chunks as fast as they are read. The rate at which the load generator reads them
 * is this machine's ceiling. */
#pragma once

#include "base/core/error.h"

#define LOOPBACK_SERVER_TOKENS 128 /* content chunks of an answer, one token each */

struct loopback_server;

/* Starts its thread, on a port chosen by the kernel. */
CHECKED bool loopback_server_create(struct loopback_server **out, int *port, struct error *error);
void loopback_server_destroy(struct loopback_server *loopback); /* does nothing for NULL */
