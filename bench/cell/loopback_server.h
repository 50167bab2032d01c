/* A model server without a model, in this process and on loopback: it answers every request at once
 * with a stream of chunks as fast as they are read. What the load generator gets from it is the
 * ceiling of this machine. */
#pragma once

#include "base/core/error.h"

#define RESPONDER_TOKENS 128 /* content chunks of an answer, one token each */

struct responder;

/* Starts its thread, on a port of the kernel's choice. */
bool responder_create(struct responder **out, int *port, struct error *error);
void responder_destroy(struct responder *responder); /* NULL is fine */
