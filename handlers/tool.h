/* SPDX-License-Identifier: Apache-2.0 */
/* What a tool is: its description, its parameters, the shape of its answer and the function that
 * runs it. The published schemas, the checks and the documentation all come from the same tables of
 * params and fields: there is no second copy. */
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
    VALUE_CHOICE,   /* a string, one of `choices` */
    VALUE_INTEGERS, /* list of integers */
    VALUE_NUMBERS,  /* list of numbers */
    VALUE_TEXTS,    /* list of strings */
    VALUE_TEXT_MAP, /* object of strings */
    VALUE_OBJECT,   /* answers only: has `fields`, or is free-form */
    VALUE_LIST,     /* answers only: list of objects that have `fields`, or is free-form */
};

/* One argument. */
struct param {
    const char *name;
    enum value_type type;
    bool required;
    /* The minimum and maximum of a number, of a string's length in bytes, or of the number of
     * entries in a list or a map. Both 0: there are no limits. */
    double low, high;
    /* The minimum and maximum of each number in a list, or of the length in bytes of each string in
     * a list or a map. Both 0: there are no limits. */
    double item_low, item_high;
    const char *const *choices; /* CHOICE: ends with NULL */
    bool is_free;               /* a string that can contain anything, even credentials */
    bool rare;                  /* not listed by itself: given in `options` (handlers/options.h) */
    const char *initial;        /* the default as JSON text, published; NULL: none */
    /* TEXT, INTEGER, BOOLEAN: the client repeats the value in the header Mcp-Param-<this> (protocol
     * version 2026-07-28). NULL: it does not. */
    const char *header;
    const char *help; /* short: the list of tools takes room in each client's context */
    const char *more; /* follows `help` in opsbrain://arguments/{tool}; NULL: nothing */
};

/* Which of a tool's answers include a member. A resource includes every member. */
enum inclusion {
    INCLUDED_ALWAYS,
    INCLUDED_OUTSIDE_LISTS, /* in the rows of a list only if the call's argument `detail` is true */
    INCLUDED_IN_DETAIL,     /* only if `detail` is true */
};

/* One member of a structured answer. */
struct field {
    const char *name;
    enum value_type type;
    bool optional; /* omitted if its value is not known or does not exist */
    bool sparse;   /* omitted if its value is false, 0 or empty, which is usual */
    enum inclusion included;
    bool foreign; /* untrusted text from a model, a server or a file; marked so in the answer */
    const char *help;
    const struct field *fields; /* OBJECT and LIST; ends with a NULL name */
    /* The tool whose params this OBJECT contains: those at their default are omitted unless
     * `detail` is true. NULL: none are omitted. */
    const char *defaults_of;
    /* The tool, or the member of this tool, that describes these `fields`; here they are only
     * checked. NULL: they are described here. */
    const char *described_in;
    /* Returns the value as JSON, from the member at `offset` in a row of the store. NULL: the value
     * is computed. The macros in handlers/answer_row.h set `show` and `offset`. */
    json_t *(*show)(const void *member);
    size_t offset;
};

struct call;

#define ANSWER_PAGE_SIZE 512
#define ANSWER_FILE_SIZE 128

/* A tool's answer: a short text for people and, if the tool has fields, an object that conforms to
 * them. answer_finish releases it. */
struct answer {
    json_t *structured; /* set by run(); NULL: the tool has no fields */
    struct text text;
    json_t *content; /* MCP's content blocks instead of `text`; NULL: only the text */
    /* The path of the page that shows the answer to people, with its query (answer_shows);
     * tool_call makes it a URL. "": there is none. */
    char page[ANSWER_PAGE_SIZE];
    char file[ANSWER_FILE_SIZE]; /* the URI of a resource that is an HTML file; "": none */
    char job_id[ID_SIZE];        /* the job that the call started, which clients that support tasks
                                    get as a task; "": none */
    char changed[64]; /* the deployment that the call changed, for subscribers; "": none */
};
void answer_finish(struct answer *answer);

enum placement {
    PLACE_INLINE = 1, /* answers from memory, never from the store: can run on the HTTP thread */
    PLACE_WORKER,     /* blocks for a moment: store writes, short upstream calls */
    PLACE_WAITING,    /* waits for people or slow servers: seconds to minutes */
};

/* A yes or no that must be stated for each tool that does not only read: the server does not start
 * if it is 0, which means that it was forgotten. */
enum stated { STATED_NO = 1, STATED_YES };

/* Sets of tools. A client chooses which sets are listed for it: /mcp?tools=measure,fleet. */
enum tool_set {
    SET_FLEET = 1,   /* register, query and watch model servers */
    SET_MEASURE = 2, /* benchmarks and what they measured */
    SET_AUDIT = 4,   /* who did what */
    SET_DEPLOY = 8,  /* deploy, change and destroy model servers; listed only on request */
    SETS_ALL = 15,
};

struct tool {
    const char *name;
    const char *title;
    const char *help;           /* in the list, for an agent that has never seen the product */
    const char *more;           /* follows `help` in opsbrain://guide and opsbrain://arguments */
    unsigned sets;              /* the sets that contain it: bits of enum tool_set */
    const struct param *params; /* ends with a NULL name */
    /* The tool whose schema describes the arguments and options that this tool shares with it;
     * NULL: this tool's own schema describes them all. */
    const char *params_described_in;
    /* Published instead of a schema of the params; the arguments are then not checked. NULL: the
     * params are published and checked. */
    const char *input_schema;
    const struct field *fields; /* ends with a NULL name; NULL: its answers have no structure */
    enum role role;             /* the lowest role that may call it */
    enum placement placement;
    bool read_only, idempotent, open_world; /* published as hints, as is `destroys` */
    /* A tool that only reads states neither `destroys` nor `spends_money`; others state both. */
    enum stated destroys; /* it removes or replaces what others rely on */
    /* It costs money, or keeps a model server busy for longer than a short question would. */
    enum stated spends_money;
    bool requires_tasks;    /* only clients that support tasks can call it */
    bool changes_resources; /* its calls can change the list of resources */
    /* Its calls are counted in the audit log although it only reads: for data worth stealing. */
    bool counts_reads;
    const char *app;  /* the URI of the MCP App that shows its answers; NULL: none does */
    bool is_for_apps; /* called by that app, not by models: listed only for hosts that show apps */
    /* It stores more than its audit row. While the disk is nearly full, only admins may call it.
     * Other principals may not call it once they have stored `storage_limit_bytes` (services.h). */
    bool grows;
    /* Called before the arguments are checked: replaces a reference, such as the digest of a plan
     * that was reviewed, with the arguments that it stands for. *out: a new reference. NULL: the
     * arguments are used as they are. */
    CHECKED bool (*recall)(const struct call *call, const json_t *given, json_t **out,
                           struct error *error);
    /* Only for tools that destroy or spend money: returns true if the call has the go-ahead that it
     * needs (handlers/consent.h, or the digest of a plan that was shown). run() is only called
     * after that. */
    CHECKED bool (*go_ahead)(struct call *call, struct error *error);
    CHECKED bool (*run)(struct call *call, struct answer *answer, struct error *error);
};

/* A request to the client during a call: to show its user a form or a page, to have its model
 * complete a prompt, or to list the client's roots. */
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

/* One call of one tool, or one request for a resource or a prompt. Tools borrow everything in it
 * until run() returns. The server provides the callbacks. */
struct call {
    const struct services *services;
    /* In go_ahead() and run(): an object, checked against the params, with defaults filled in.
     * Elsewhere: as the client gave them; NULL: none. */
    const json_t *arguments;
    json_t *checked;  /* the result of tool_check; borrowed; NULL: not checked yet */
    bool in_go_ahead; /* true while the tool's go_ahead() runs: consent is requested only then */
    const char *file; /* bytes uploaded with the arguments; borrowed; NULL: none */
    size_t file_bytes;
    struct principal principal;
    struct change change; /* for the store's functions that change something */
    /* The address of the pages, as the caller reaches them: "http://127.0.0.1:8080". Borrowed; NULL
     * or "": not known. */
    const char *base_url;
    void *host; /* the server's, for its callbacks */
    /* Reports progress; never NULL. `total` 0: not known. The client receives `progress` only if it
     * exceeds the last value sent. */
    void (*progress)(struct call *call, double progress, double total, const char *message);
    /* The client receives progress, and so knows that its call is still running. */
    bool is_followed;
    /* Returns true if other calls are waiting for one of the threads that run PLACE_WAITING calls.
     * NULL: no calls ever wait. */
    bool (*thread_is_wanted)(void *host);
    /* Returns true if the call should stop; never NULL. Can be passed on, with `host` as its
     * context. */
    bool (*cancelled)(void *host);
    /* Sends questions to the client; never NULL. *answers: a new object that holds the result of
     * each question under its key. In protocol versions with sessions, this function blocks until
     * the client has answered. In 2026-07-28, it fails with INPUT_REQUIRED the first time: then
     * return at once, without having changed anything. The client repeats the call with the
     * answers, the tool runs again from the beginning, and this function returns the answers. The
     * change is made once, no matter how often the client repeats the call. UNSUPPORTED: the client
     * did not declare the capability. Only for tools that are PLACE_WAITING. */
    CHECKED bool (*ask)(struct call *call, const struct question *questions, size_t count,
                        json_t **answers, struct error *error);
    /* Closes the connection that waits for the answer, while the call goes on; never NULL. The
     * client connects again to get the answer. Does nothing if the client's protocol does not allow
     * that. */
    void (*close_stream)(struct call *call);
    /* Sends a message to the client's log if the client requested this severity; never NULL. `data`
     * is any JSON value, and this function releases it; `logger` names the source, or is NULL. */
    void (*log_take)(struct call *call, enum severity severity, const char *logger, json_t *data);
};

extern const struct tool *const tools[];        /* in order of name; ends with NULL */
const struct tool *tool_find(const char *name); /* NULL: there is no such tool */
/* Returns the members of `object` that differ from the defaults of the tool's arguments, or, where
 * there is no default, are not empty. New reference. */
json_t *tool_omit_defaults(const struct tool *tool, const json_t *object);
json_t *tool_input_schema(const struct tool *tool);  /* new reference */
json_t *tool_output_schema(const struct tool *tool); /* new reference; NULL: it has no fields */
/* Checks the arguments (NULL: none), and fills in defaults. *out: a new reference, to the arguments
 * themselves if nothing has to be filled in or converted. INVALID: the message names the argument,
 * its value and what is allowed. */
CHECKED bool tool_check(const struct tool *tool, const json_t *arguments, json_t **out,
                        struct error *error);
/* Checks that what run() returned conforms to the tool's fields: tool_call fails if it does not.
 * Only for tools with fields. INTERNAL: the message names the member. */
CHECKED bool tool_conforms(const struct tool *tool, const json_t *structured, struct error *error);

/* Carries out a call: checks the role and the arguments, runs the tool, and writes an audit row if
 * the call failed, if the tool counts its reads, or if the tool can change something and the call
 * wrote no row itself. `call->arguments` are the caller's raw arguments (NULL: none). False:
 * `error` is for the client, usually as a result with isError. An error of the kind INTERNAL is
 * logged, and the client gets only the request's id, with which to find it in the log. */
CHECKED bool tool_call(const struct tool *tool, struct call *call, struct answer *answer,
                       struct error *error);

/* Refuses a call of a tool that does not exist, and writes its audit row. Always returns false:
 * NOT_FOUND; the message names similar tools, if there are any. */
CHECKED bool tool_missing(struct call *call, const char *name, struct error *error);

/* The value of the argument `name`; NULL or `fallback` if it is not given. */
const char *call_text(const struct call *call, const char *name);
int64_t call_integer(const struct call *call, const char *name, int64_t fallback);
double call_number(const struct call *call, const char *name, double fallback);
bool call_boolean(const struct call *call, const char *name, bool fallback);

/* The kinds of jobs that the process runs (jobs/job_pool.h); ends with an empty row. In their
 * functions run->services is a `const struct services *`. */
extern const struct job_kind job_kinds[];

/* Adds the instructions that introduce the server to an agent. */
void tools_instructions(struct text *out);
