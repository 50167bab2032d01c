/* SPDX-License-Identifier: Apache-2.0 */
/* What a tool is: its description, its parameters, the shape of its answer and the function that
 * runs it. The published schemas, the checks and the documentation all use these rows: there is no
 * second copy. */
#pragma once

#include <jansson.h>

#include "base/core/error.h"
#include "base/core/text.h"
#include "handlers/services.h"
#include "store/ledger/principals.h"

enum value_type {
    VALUE_TEXT = 1,
    VALUE_INTEGER,
    VALUE_NUMBER,
    VALUE_BOOLEAN,
    VALUE_CHOICE,   /* text, one of `choices` */
    VALUE_INTEGERS, /* list of integers */
    VALUE_NUMBERS,  /* list of numbers */
    VALUE_TEXTS,    /* list of strings */
    VALUE_TEXT_MAP, /* object of strings */
    VALUE_OBJECT,   /* answers only: `fields`, or free-form without */
    VALUE_LIST,     /* answers only: list of objects with `fields`, or free-form without */
};

/* One argument. */
struct param {
    const char *name;
    enum value_type type;
    bool required;
    double low, high; /* numbers: the value; text: its bytes; lists and maps: the number of entries
                         (item_*: their values) */
    double item_low,
        item_high; /* INTEGERS, NUMBERS: each value; TEXTS and maps: each one's bytes */
    const char *const *choices; /* CHOICE: ends with NULL */
    bool is_free;               /* a text that may contain anything, even credentials */
    bool rare;                  /* not listed: given in `options` (handlers/options.h) */
    const char *initial;        /* the default as JSON text, published; NULL: none */
    const char *header; /* TEXT, INTEGER, BOOLEAN: the client repeats the value in the header
                           Mcp-Param-<this> (2026-07-28); NULL: it does not */
    const char *help;   /* listed: every word costs each client context */
    const char *more;   /* text that follows it in opsbrain://arguments/{tool}; NULL: nothing */
};

/* Where a member of an answer is included. A resource includes all of them. */
enum inclusion {
    INCLUDED_ALWAYS,
    INCLUDED_OUTSIDE_LISTS, /* not in the rows of a list */
    INCLUDED_IN_DETAIL,     /* only where the call's argument `detail` is true */
};

/* One member of a structured answer. */
struct field {
    const char *name;
    enum value_type type;
    bool optional; /* omitted if it is not known, or does not exist */
    bool sparse;   /* omitted if it is false, 0 or empty, which is usual */
    enum inclusion included;
    bool foreign; /* text from a model, a server or a file: the answer says so */
    const char *help;
    const struct field *fields; /* OBJECT and LIST; ends with a NULL name */
    const char *defaults_of;    /* OBJECT with this tool's params: those at their default are
                                 * omitted, unless in detail; NULL: none are */
    const char *described_in;   /* the tool, or this one's member, whose schema describes these
                                 * `fields`: here they are only checked; NULL: described here */
    /* Shows a member of a row of the store, at `offset`; both are set by the macros of
     * handlers/answer_row.h. NULL: the value is computed. */
    json_t *(*show)(const void *member);
    size_t offset;
};

struct call;

#define ANSWER_PAGE_SIZE 512
#define ANSWER_FILE_SIZE 128

/* A tool's answer: a structure (an object that conforms to its fields, if it has some) and a short
 * text for people. */
struct answer {
    json_t *structured; /* set by run(), freed by the caller */
    struct text text;
    json_t *content; /* MCP's content blocks instead of `text`; freed by the caller; NULL: the
                      * text */
    char page[ANSWER_PAGE_SIZE]; /* the path of the page for people that shows the same, with its
                                  * query (answer_shows); tool_call makes it a URL; "": none */
    char file[ANSWER_FILE_SIZE]; /* the URI of a resource that is an HTML file; "": none */
    char job_id[ID_SIZE]; /* the job that the call started, a task for clients that support tasks;
                             "": none */
    char changed[64];     /* the deployment that the call changed, for subscribers; "": none */
};
void answer_finish(struct answer *answer);

enum placement {
    PLACE_INLINE = 1, /* answers from memory, never from the store: may run on the HTTP thread */
    PLACE_WORKER,     /* blocks for a moment: store writes, short upstream calls */
    PLACE_WAITING,    /* waits for people or slow servers: seconds to minutes */
};

/* An answer that a row must give explicitly: the server does not start if it is 0, which means that
 * it was forgotten. */
enum stated { STATED_NO = 1, STATED_YES };

/* Sets of tools, which a client may list alone or with others: /mcp?tools=measure,fleet. */
enum tool_set {
    SET_FLEET = 1,   /* model servers: registered, asked, watched */
    SET_MEASURE = 2, /* benchmarks and what they measured */
    SET_AUDIT = 4,   /* who did what */
    SET_DEPLOY = 8,  /* model servers: deployed, changed, destroyed; listed only on request */
    SETS_ALL = 15,
};

struct tool {
    const char *name;
    const char *title;
    const char *help;           /* in the list, for an agent that has never seen the product */
    const char *more;           /* what follows it in the guide */
    unsigned sets;              /* of enum tool_set: the sets that contain it */
    const struct param *params; /* ends with a NULL name */
    const char
        *params_described_in;   /* the tool whose schema lists the shared options; NULL: this one */
    const char *input_schema;   /* published instead of the params, then unchecked; NULL: params */
    const struct field *fields; /* ends with a NULL name; NULL: it answers no structure */
    enum role role;             /* the lowest role that may call it */
    enum placement placement;
    bool read_only, idempotent, open_world; /* the annotations' hints, with `destroys` */
    /* A tool that only reads states neither of these two, every other tool states both. */
    enum stated destroys;     /* it removes or replaces what others rely on */
    enum stated spends_money; /* it costs money, or keeps a model server busy for longer than a
                                 short question */
    bool starts_job;          /* answers with a job_id */
    bool requires_tasks;      /* only for clients that support tasks */
    bool changes_resources;   /* the list of resources may change */
    bool reads_noted; /* its calls are counted in the audit log, although it only reads: for data
                         that is worth stealing */
    const char *app;  /* the URI of the MCP App that shows its answers; NULL: none does */
    bool is_for_apps; /* called by that app, not by models: listed only for hosts that show apps */
    bool grows; /* it adds more to the store than its audit row: only for admins while the disk is
                   nearly full */
    /* Called before the check: replaces the arguments by those that they stand for. *out: a new
     * reference. NULL: they are used as they are. */
    CHECKED bool (*recall)(const struct call *call, const json_t *given, json_t **out,
                           struct error *error);
    /* Only for tools that destroy or spend money: whether the call has the go-ahead that it needs
     * (handlers/consent.h, or the digest of a plan that was shown). run() is only called after it
     * returned true. */
    CHECKED bool (*go_ahead)(struct call *call, struct error *error);
    CHECKED bool (*run)(struct call *call, struct answer *answer, struct error *error);
};

/* A question to the client during a call: a form or a page for its person, a completion of its
 * model, its roots. */
struct question {
    const char *key;    /* unique within the call, and the same each time the call is repeated */
    const char *method; /* "elicitation/create", "sampling/createMessage" or "roots/list" */
    json_t *params;     /* borrowed; NULL: {} */
};

/* RFC 5424's severities, as MCP names them. */
enum severity {
    SEVERITY_DEBUG,
    SEVERITY_INFO,
    SEVERITY_NOTICE,
    SEVERITY_WARNING,
    SEVERITY_ERROR,
    SEVERITY_CRITICAL,
    SEVERITY_ALERT,
    SEVERITY_EMERGENCY,
};

/* One call of one tool. Everything is borrowed and not valid after run(). The server provides the
 * callbacks. */
struct call {
    const struct services *services;
    const json_t *arguments; /* an object, checked by the params, with defaults filled in */
    json_t *checked;         /* the result of tool_check; borrowed; NULL: not checked yet */
    bool in_go_ahead; /* true while the tool's go_ahead() runs: consent is asked for only then */
    const char *file; /* uploaded with the arguments; borrowed; NULL: none */
    size_t file_bytes;
    struct principal principal;
    struct change change; /* for the store's functions that change something */
    const char *base_url; /* address of the pages, as the caller reaches them:
                             "http://127.0.0.1:8080"; borrowed; NULL or "": not known */
    void *host;
    /* Never NULL; total 0: not known. The client only receives progress that rises. */
    void (*progress)(struct call *call, double progress, double total, const char *message);
    /* Whether the client receives progress, and so knows that its call is still running. */
    bool is_followed;
    /* Whether others wait for the thread that this call occupies. NULL: none do. */
    bool (*is_wanted)(void *host);
    bool (*cancelled)(void *host); /* never NULL; may be passed on, with `host` as its context */
    /* Asks the client, never NULL. *answers: a new object with the result of each question by its
     * key. With sessions it blocks until the client has answered. In 2026-07-28 it first fails with
     * INPUT_REQUIRED: return at once, without any effect. When the client repeats the call with the
     * answers, run() is called again from its start and gets them here; its change is made once, no
     * matter how often the client repeats the call. UNSUPPORTED: the client did not declare the
     * capability. A tool that asks is PLACE_WAITING. */
    CHECKED bool (*ask)(struct call *call, const struct question *questions, size_t count,
                        json_t **answers, struct error *error);
    /* Never NULL: closes the connection that waits for the answer, while the call goes on. The
     * client connects again to get it; does nothing if its protocol has no way to do so. */
    void (*close_stream)(struct call *call);
    /* A message to the client's log, never NULL: sent if the client asked for this severity. `data`
     * is any JSON value, taken over; `logger` names its source, or is NULL. */
    void (*log_take)(struct call *call, enum severity severity, const char *logger, json_t *data);
};

extern const struct tool *const tools[]; /* in order of name; ends with NULL */
const struct tool *tool_find(const char *name);
/* The arguments that differ from their defaults, from an object with the tool's params. New
 * reference. */
json_t *tool_stated(const struct tool *tool, const json_t *object);
json_t *tool_input_schema(const struct tool *tool);  /* new reference */
json_t *tool_output_schema(const struct tool *tool); /* new reference; NULL: it has no fields */
/* Checks and completes the arguments. *out: an object with defaults filled in, the same one if
 * there is nothing to fill in; a reference for the caller. */
CHECKED bool tool_check(const struct tool *tool, const json_t *arguments, json_t **out,
                        struct error *error);
/* Whether `structured` conforms to the tool's fields. tool_call returns no other answer. */
CHECKED bool tool_conforms(const struct tool *tool, const json_t *structured, struct error *error);

/* Carries out a call: checks role and arguments, runs the tool, and writes the audit row if the
 * call failed or wrote none itself. `call->arguments` are the caller's raw arguments (NULL: none).
 * False: the tool's error, to be shown as isError; kind INTERNAL is logged with the request id and
 * shown as "internal error, see request <id>". */
CHECKED bool tool_call(const struct tool *tool, struct call *call, struct answer *answer,
                       struct error *error);

/* Always false: NOT_FOUND, with the name of the most similar tool. Writes the audit row of a call
 * to a tool that does not exist. */
CHECKED bool tool_missing(struct call *call, const char *name, struct error *error);

const char *call_text(const struct call *call, const char *name); /* NULL if absent */
int64_t call_integer(const struct call *call, const char *name, int64_t fallback);
double call_number(const struct call *call, const char *name, double fallback);
bool call_boolean(const struct call *call, const char *name, bool fallback);

/* The rows of job_kinds[] (jobs/job_pool.h) that the process runs; run->services is a `const struct
 * services *`. */
extern const struct job_kind job_kinds[];

/* The instructions that introduce the server to an agent. */
void tools_instructions(struct text *out);
