/* SPDX-License-Identifier: Apache-2.0 */
/* The pages for people: functions from a request to an answer. They do not know HTTP connections,
 * and get their figures from the tools and other functions of handlers/ (web/page_call.h), as the
 * request's principal. The table `pages` is in web/pages.c; server/pages/ finds a request's row,
 * authenticates the caller, and calls the row's `write` on a worker. */
#pragma once

#include "base/formats/html.h"
#include "handlers/tool.h"

/* Parameters of a query or of a path, fields of a form. */
struct page_value {
    const char *name, *value;
};
struct page_values {
    const struct page_value *at;
    size_t count;
};
/* NULL: it is missing or empty. */
const char *page_value(const struct page_values *values, const char *name);

/* Everything is borrowed. */
struct page_request {
    const struct services *services;
    /* when a page's `write` runs, the principal has at least the role of the page's row; an empty
     * name: nobody is signed in */
    struct principal principal;
    bool may_sign_out;         /* the browser signed in with a key */
    const char *path;          /* "/runs/run_1" */
    const char *known;         /* If-None-Match: the tags that the browser has; NULL: none */
    struct page_values places; /* the path's parameters: "id" of "/runs/{id}" */
    struct page_values query, form;
    const char *token; /* in each POST form, against forgery (page_form_begin) */
    const char *request_id;
    const char *file; /* the bytes of the form's file; NULL: none */
    size_t file_bytes;
    void *host; /* the context of the callbacks */
    bool (*cancelled)(void *host);
    /* Called after a tool that may change the list of resources. `deployment`: the deployment that
     * the tool changed; "": none. */
    void (*changed)(void *host, const char *deployment);
};

/* The answer that a page fills. Free with page_answer_finish. */
struct page_answer {
    unsigned status;   /* 0: 200 */
    struct text title; /* plain text, the window's title; the page writes its own <h1> */
    struct text body;  /* the contents of <main> or, with a `type`, the whole body */
    const char *type;  /* static, such as "image/svg+xml"; NULL: HTML, to be framed (web/frame.h) */
    bool is_kept;      /* the browser may cache it, if it revalidates it each time */
    /* ids and names, separated by spaces: the page is fetched again when one of them changes;
     * "*": at every change; "*load": when metrics were scraped, at most every 5 s */
    struct text follows;
    /* the browser must repeat the request at once: a page of another origin led here, so the
     * session's cookie may not have been sent */
    bool reloads;
    /* It only reports an error (frame_refusal). The navigation is shown even to a reader who is
     * not signed in. */
    bool is_refusal;
    struct text location; /* answers 303 with this path of this server */
    struct text file;     /* the name under which the browser saves the answer; "": it shows it */
    struct text policy;   /* the Content-Security-Policy of a saved report; "": the pages' own */
};
void page_answer_finish(struct page_answer *answer);
#define PAGE_ANSWER_AUTO __attribute__((cleanup(page_answer_finish))) struct page_answer

struct page {
    const char *verb; /* GET, which also answers HEAD, or POST */
    const char *path; /* server/http/route_pattern.h: "/runs/{id}", "/runs/{id}.html" */
    enum role role;   /* the lowest that may request it */
    /* waits for a model server, or for its turn to draw: it runs on the workers that may wait */
    bool waits;
    bool takes_file; /* POST: a file of up to 64 MiB, as multipart/form-data */
    /* False: the error becomes the answer (for browsers a page), with the HTTP status of its
     * kind. */
    CHECKED bool (*write)(const struct page_request *request, struct page_answer *answer,
                          struct error *error);
};
/* Ends with a NULL path. If two rows match a request, the first one is used. */
extern const struct page pages[];

/* ---- Shared by pages ---- */

const char *page_text(const struct text *text); /* NULL: it is empty */

/* A parameter of the query, a field of the form, a parameter of the path. If it is missing or
 * empty: NULL or, from page_place, "". */
const char *page_query(const struct page_request *request, const char *name);
const char *page_form(const struct page_request *request, const char *name);
const char *page_place(const struct page_request *request, const char *name);
/* Whether the user has at least this role. Buttons that need a higher one are not shown. */
bool page_may(const struct page_request *request, enum role role);
/* Operators may cancel what they started, admins everything. */
bool page_may_cancel(const struct page_request *request, const char *started_by);

/* The change that a page makes itself, without calling a tool. `tool`, its name in the audit log,
 * and the arguments are borrowed. */
struct change page_change(const struct page_request *request, const char *tool,
                          const char *arguments);
/* Records in the audit log that such a change was refused. */
void page_note_refusal(const struct page_request *request, const struct change *change,
                       const char *subject, const struct error *why);

/* Opens a <form method="post"> with the token; close it with html_close(html, "form"). */
void page_form_begin(const struct page_request *request, struct html *html, const char *action);
/* The same for a page that takes a file, which may be dropped on the form. */
void page_file_form_begin(const struct page_request *request, struct html *html,
                          const char *action);
/* Appends a path to a URL, escaped except for its slashes. */
void page_url_add_path(struct text *url, const char *path);
/* Appends "name=value" to a URL, escaped, with ? or & before it; nothing for NULL. */
void page_url_add(struct text *url, const char *name, const char *value);
