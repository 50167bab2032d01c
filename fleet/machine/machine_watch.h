/* SPDX-License-Identifier: Apache-2.0 */
/* A watchdog: one small process for one server of this machine. It starts the server, ends it at
 * its time and records its state, even while opsbrain is not running. Private to fleet/machine. */
#pragma once

#include "fleet/machine/machine_http.h"
#include "fleet/machine/machine_process.h"
#include "fleet/machine/machine_record.h"

struct machine_watch {
    char folder[PATH_MAX]; /* of the record */
    char work[PATH_MAX];   /* of the program */
    json_t *record;        /* as of the watchdog's start, except for these, which change: */
    char wanted[16];       /* "running", "stopped" or "gone" */
    int64_t ends_ms;       /* UTC; 0: it has none */
    bool end_destroys;
    char key[64]; /* its API key; "": none */
    char state[24], phase[24], message[400], log_line[256];
    int64_t shown_ns;               /* when the status was last written */
    bool has_news;                  /* a line or message that the status does not have yet */
    struct machine_process process; /* of a program */
    int output;                     /* a program's output, to be read; -1: none */
    int log;                        /* the file that keeps it */
    int64_t logged_bytes;
    int64_t held_ns;   /* when the model was last asked to stay loaded */
    int64_t looked_ns; /* when the expensive checks were last made */
};

/* How a kind of server lives. */
struct machine_kind {
    /* Starts it from nothing, or from what `end` left, and returns when its port answers. May take
     * long; stops early if machine_watch_goes_on returns false. */
    CHECKED bool (*start)(struct machine_watch *watch, struct error *error);
    /* UPSTREAM: it has ended; the sentence says how. */
    CHECKED bool (*look)(struct machine_watch *watch, struct error *error);
    /* Stops it so that it can be started again; false: it may still be running. */
    CHECKED bool (*end)(struct machine_watch *watch, struct error *error);
    /* Removes everything of it; false: something may be left. */
    CHECKED bool (*remove)(struct machine_watch *watch, struct error *error);
};
extern const struct machine_kind machine_kind_program, machine_kind_container, machine_kind_service;
const struct machine_kind *machine_kind_of(const json_t *record);

/* Watches the server from its start to the end that its record states; returns when there is
 * nothing to watch. */
void machine_watch_run(struct machine_watch *watch);

/* Reads the record again: whether the server should run now. */
bool machine_watch_goes_on(struct machine_watch *watch);
/* For checks that cost more than reading a file: true once a second after it is ready. */
bool machine_watch_is_due(struct machine_watch *watch);
/* Writes the status if it has changed. `state` and `phase` NULL: unchanged. */
void machine_watch_show(struct machine_watch *watch, const char *state, const char *phase,
                        const char *message);
/* A call that is cancelled when the server should no longer run; the caller sets the rest. */
struct machine_http machine_watch_http(struct machine_watch *watch, const char *socket,
                                       const char *base);
/* Pulls the record's model to the disk and loads it in the Ollama at `base`. */
CHECKED bool machine_ollama_load(struct machine_watch *watch, const char *base,
                                 struct error *error);
