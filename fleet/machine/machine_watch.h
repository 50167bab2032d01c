/* SPDX-License-Identifier: Apache-2.0 */
/* A watchdog: a small process for one server on this machine. It starts the server, ends it when
 * its time is up, and records its state, even while opsbrain is not running. Private to
 * fleet/machine. */
#pragma once

#include "fleet/machine/machine_http.h"
#include "fleet/machine/machine_process.h"
#include "fleet/machine/machine_record.h"

struct machine_watch {
    char folder[PATH_MAX]; /* the record's folder */
    char work[PATH_MAX];   /* the program's working folder */
    json_t *record;        /* as of the watchdog's start */
    /* The next three members are updated whenever record.json is read again. */
    char wanted[16];   /* "running", "stopped" or "gone" */
    int64_t ends_ms;   /* UTC; 0: the server has no end */
    bool end_destroys; /* true: the server is removed at its end; false: it is only stopped */
    char key[64];      /* the server's API key; "": none */
    char state[24], phase[24], message[400], log_line[256];
    int64_t shown_ns;               /* when the status was last written */
    bool has_news;                  /* true: a new message or log line is not in the status yet */
    struct machine_process process; /* if the server is a program */
    int output;                     /* read end of the pipe for a program's output; -1: none */
    int log;                        /* the file to which the output is copied; -1: none */
    int64_t logged_bytes;
    int64_t kept_loaded_ns; /* when Ollama was last asked to keep the model loaded */
    int64_t checked_ns;     /* when the expensive checks were last made */
};

/* How one kind of server is started, checked and ended. */
struct machine_kind {
    /* Starts the server, for the first time or again after `end`. Can take a long time; returns
     * early if machine_watch_goes_on returns false. */
    CHECKED bool (*start)(struct machine_watch *watch, struct error *error);
    /* Returns false if the server has ended or must be ended; the error says why. */
    CHECKED bool (*check)(struct machine_watch *watch, struct error *error);
    /* Stops the server so that it can be started again. Returns false if it might still be
     * running. */
    CHECKED bool (*end)(struct machine_watch *watch, struct error *error);
    /* Removes the server's container or working folder, but no model from Ollama. Returns false if
     * the container might still exist. */
    CHECKED bool (*remove)(struct machine_watch *watch, struct error *error);
};
extern const struct machine_kind machine_kind_program, machine_kind_container, machine_kind_service;
const struct machine_kind *machine_kind_of(const json_t *record);

/* If the server should run, starts it, and watches it until it fails or should no longer run. Then
 * ends the server and, if its record says so, removes the server and the record's folder. */
void machine_watch_run(struct machine_watch *watch);

/* Reads the record again. Returns true if the server should run now. */
bool machine_watch_goes_on(struct machine_watch *watch);
/* Returns true if it is time for the expensive checks, such as an HTTP call: always while the
 * server is not ready, otherwise at most once a second. */
bool machine_watch_is_due(struct machine_watch *watch);
/* Writes the status if it has changed; at most once a second if only the message or the log line
 * has changed. NULL leaves a member unchanged. */
void machine_watch_show(struct machine_watch *watch, const char *state, const char *phase,
                        const char *message);
/* Returns the options for an HTTP call that is cancelled when the server should no longer run.
 * `socket` and `base` are borrowed; the caller may set the other members. */
struct machine_http machine_watch_http(struct machine_watch *watch, const char *socket,
                                       const char *base);
/* Loads the record's model into the Ollama at `base`. Pulls the model first if Ollama does not have
 * it. */
CHECKED bool machine_ollama_load(struct machine_watch *watch, const char *base,
                                 struct error *error);
