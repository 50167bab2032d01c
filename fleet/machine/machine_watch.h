/* SPDX-License-Identifier: Apache-2.0 */
/* A watchdog: one small process for one server of this machine. It starts the server, holds its
 * end, and is what knows how it is; opsbrain may end meanwhile. Private to fleet/machine. */
#pragma once

#include "fleet/machine/machine_http.h"
#include "fleet/machine/machine_process.h"
#include "fleet/machine/machine_record.h"

struct machine_watch {
    char folder[PATH_MAX]; /* of the record */
    char work[PATH_MAX];   /* of the program */
    json_t *record;        /* as it was when the watchdog began; of what changes later only: */
    char wanted[16];       /* "running", "stopped" or "gone" */
    int64_t ends_ms;       /* UTC; 0: it has none */
    bool end_destroys;
    char key[64]; /* of its door; "": none */
    char state[24], phase[24], message[400], log_line[256];
    int64_t shown_ns;               /* when the status was written last */
    bool has_news;                  /* a line or message that the status does not have yet */
    struct machine_process process; /* of a program */
    int output;                     /* of a program, to be read; -1: none */
    int log;                        /* where that is kept */
    int64_t logged_bytes;
    int64_t held_ns;   /* when a model was last asked to stay */
    int64_t looked_ns; /* when what costs more was last looked at */
};

/* How a kind of server lives. */
struct machine_kind {
    /* From nothing, or from what `end` left, until its port can be asked. May take long: it goes
     * on as long as machine_watch_goes_on. */
    CHECKED bool (*start)(struct machine_watch *watch, struct error *error);
    /* UPSTREAM: it has ended, and how. */
    CHECKED bool (*look)(struct machine_watch *watch, struct error *error);
    /* It does not run, and may be started again; false: it may run still. */
    CHECKED bool (*end)(struct machine_watch *watch, struct error *error);
    /* Nothing is left of it; false: it may be there still. */
    CHECKED bool (*remove)(struct machine_watch *watch, struct error *error);
};
extern const struct machine_kind machine_kind_program, machine_kind_container, machine_kind_service;
const struct machine_kind *machine_kind_of(const json_t *record);

/* From its start to its end, which the record says; returns when there is nothing to watch. */
void machine_watch_run(struct machine_watch *watch);

/* Reads the record again: whether the server shall run now. */
bool machine_watch_goes_on(struct machine_watch *watch);
/* For looks that cost more than reading a file: once a second from when it is ready. */
bool machine_watch_is_due(struct machine_watch *watch);
/* Writes the status where it has changed. `state` and `phase` NULL: as they were. */
void machine_watch_show(struct machine_watch *watch, const char *state, const char *phase,
                        const char *message);
/* A call that ends when the server shall not run any more; set what it needs besides. */
struct machine_http machine_watch_http(struct machine_watch *watch, const char *socket,
                                       const char *base);
/* The model of the record is on the disk and loaded in the Ollama at `base`. */
CHECKED bool machine_ollama_load(struct machine_watch *watch, const char *base,
                                 struct error *error);
