/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by machine.c and what answers its calls, and private to them. */
#pragma once

#include <pthread.h>

#include "fleet/machine/machine_record.h"
#include "fleet/machine/machine_rules.h"

struct machine {
    struct machine_rules rules;
    char watchdog[CONFIG_TEXT_SIZE];
    pthread_mutex_t lock; /* held while a record is changed */
    struct cloud_machine cloud;
};

/* One call; `name` is that of the server in the path, "" if it has none. */
struct machine_call {
    struct machine *machine;
    char name[64], folder[PATH_MAX];
    const char *query; /* without '?'; "" for none */
    const json_t *body;
    struct cloud_reply *out;
};

/* Fills the reply; `body` is taken. Returns true. */
bool machine_reply(const struct machine_call *call, long status, json_t *body);
/* The same for what is refused: the status of the error's kind. Returns false. */
bool machine_refuse(const struct machine_call *call, const struct error *error);

/* A server as it is shown. NOT_FOUND: there is none of this name. New reference. */
CHECKED bool machine_server_read(const struct machine *machine, const char *name, json_t **out,
                                 struct error *error);
/* Appends all that have records. */
void machine_server_list(const struct machine *machine, json_t *servers);
/* The server's own record. */
CHECKED bool machine_server_record(const struct machine *machine, const char *name, json_t **out,
                                   struct error *error);

/* Makes a record of what is asked for: INVALID names the member that is wrong. */
CHECKED bool machine_server_fill(const struct machine *machine, const char *name,
                                 const json_t *wanted, json_t **out, struct error *error);

/* Appends the model servers that listen on the ports that engines usually take, apart from those of
 * `servers`; each is called ENGINE-PORT. */
void machine_search(const struct machine *machine, json_t *servers);
/* The one of this name; NOT_FOUND if nothing like it listens. */
CHECKED bool machine_search_find(const struct machine *machine, const char *name, json_t **out,
                                 struct error *error);
