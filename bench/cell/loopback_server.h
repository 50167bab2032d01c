/* SPDX-License-Identifier: Apache-2.0 */
/* A model server without a model, which runs in this process and listens on a loopback address. It
 * answers every request without delay, and sends chunks as fast as the client reads them.
 * Therefore, the rate at which a load thread reads chunks from it is the highest rate that the
 * thread can reach on this machine. */
#pragma once

#include "base/core/error.h"

#define LOOPBACK_SERVER_TOKENS 128 /* content chunks of an answer, one token each */

struct loopback_server;

/* Starts the server in a thread of its own, on a port that the kernel chooses. */
CHECKED bool loopback_server_create(struct loopback_server **out, int *port, struct error *error);
void loopback_server_destroy(struct loopback_server *loopback); /* does nothing for NULL */
