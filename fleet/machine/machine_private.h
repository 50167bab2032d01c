/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by machine.c and the files that answer its calls. Private to fleet/machine. */
#pragma once

#include <pthread.h>

#include "fleet/machine/machine_record.h"
#include "fleet/machine/machine_rules.h"

struct machine {
    struct machine_rules rules;
    char watchdog[CONFIG_TEXT_SIZE];
    pthread_mutex_t lock; /* held while opsbrain changes a record */
    struct cloud_machine cloud;
};

/* One call. `name` is the name of the server in the path; "" if the path has none. */
struct machine_call {
    struct machine *machine;
    char name[64];
    char folder[PATH_MAX]; /* the folder of that server's record */
    const char *query;     /* without '?'; "" for none */
    const json_t *body;
    struct cloud_reply *out;
};

/* Fills the reply, and takes over the reference to `body`. Returns true. */
bool machine_reply_take(const struct machine_call *call, long status, json_t *body);
/* Fills the reply for a refusal, with the HTTP status for the error's kind. Returns false. */
bool machine_refuse(const struct machine_call *call, const struct error *error);

/* Reads a server in the form that callers see. NOT_FOUND if none has this name. New reference. */
CHECKED bool machine_server_read(const struct machine *machine, const char *name, json_t **out,
                                 struct error *error);
/* Appends every server that has a record. */
void machine_server_list(const struct machine *machine, json_t *servers);
/* Reads a server's record. NOT_FOUND if none has this name. New reference. */
CHECKED bool machine_server_record(const struct machine *machine, const char *name, json_t **out,
                                   struct error *error);

/* Makes a record from a request. INVALID if a member of the request is wrong; the message names
 * the member. New reference. */
CHECKED bool machine_server_fill(const struct machine *machine, const char *name,
                                 const json_t *request, json_t **out, struct error *error);

/* Appends the model servers that listen on the usual ports of engines, or on the port in the
 * setting this_machine_ollama, and are not yet in `servers`. Each is named ENGINE-PORT, or
 * server-PORT if its engine is not recognized. */
void machine_search(const struct machine *machine, json_t *servers);
/* Finds a server by the name that machine_search gives it. NOT_FOUND if no such server listens. New
 * reference. */
CHECKED bool machine_search_find(const struct machine *machine, const char *name, json_t **out,
                                 struct error *error);
