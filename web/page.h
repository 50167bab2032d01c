/* SPDX-License-Identifier: Apache-2.0 */
/* The pages for people. Each page is a function that gets a request and fills an answer. Pages know
 * nothing about HTTP connections. They get their figures from the tools and other functions of
 * handlers/ (web/page_call.h), which they call as the user who sent the request. The table `pages`
 * is in web/pages.c; server/pages/ finds the row for a request, authenticates the caller, and calls
 * the row's `write` on a worker. */
#pragma once

#include "base/formats/html.h"
#include "handlers/tool.h"

/* A parameter from a query or a path, or a field of a form. */
struct page_value {
    const char *name, *value;
};
struct page_values {
    const struct page_value *at;
    size_t count;
};
/* Returns NULL if the value is missing or empty. */
const char *page_value(const struct page_values *values, const char *name);

/* A request as a page gets it. Everything is borrowed. */
struct page_request {
    const struct services *services;
    /* The user. When a page's `write` runs, the user has at least the role given in the page's row.
     * An empty name: nobody is signed in. */
    struct principal principal;
    bool may_sign_out; /* the browser signed in with a key */
    const char *path;  /* "/runs/run_1" */
    /* the header If-None-Match: the ETags that the browser has; NULL: none */
    const char *known;
    struct page_values places; /* the path's parameters, such as "id" for "/runs/{id}" */
    struct page_values query, form;
    /* every POST form contains it, as protection against forged requests (page_form_begin) */
    const char *token;
    const char *request_id;
    const char *file; /* the bytes of the file that was sent with the form; NULL: none */
    size_t file_bytes;
    void *host; /* the context of the callbacks */
    bool (*cancelled)(void *host);
    /* Called after a tool that can change the list of resources. `deployment`: the deployment that
     * the tool changed; "": none. */
    void (*changed)(void *host, const char *deployment);
};

/* The answer that a page fills. Free with page_answer_finish. */
struct page_answer {
    unsigned status;   /* 0: 200 */
    struct text title; /* plain text, the window's title; the page writes its own <h1> */
    struct text body;  /* the contents of <main> or, with a `type`, the whole body */
    const char *type;  /* static, such as "image/svg+xml"; NULL: HTML, to be framed (web/frame.h) */
    bool is_kept;      /* the browser may cache the answer, but must revalidate it each time */
    /* Ids and names, separated by spaces. An open page is fetched again when one of them changes.
     * "*": when anything changes. "*load": when metrics were scraped, but at most every 5 s. */
    struct text follows;
    /* The browser must repeat the request at once. The user came from a page of another origin, so
     * the browser might not have sent the session's cookie. */
    bool reloads;
    /* The answer only reports an error (frame_refusal). The navigation is shown even if the user is
     * not signed in. */
    bool is_refusal;
    struct text location; /* if set, redirects (303) to this path on this server */
    /* the browser saves the answer under this name; "": it shows the answer */
    struct text file;
    /* the Content-Security-Policy of a saved report; "": that of all other pages */
    struct text policy;
};
void page_answer_finish(struct page_answer *answer);
#define PAGE_ANSWER_AUTO __attribute__((cleanup(page_answer_finish))) struct page_answer

struct page {
    const char *verb; /* "GET" (also answers HEAD) or "POST" */
    const char *path; /* as in server/http/route_pattern.h: "/runs/{id}", "/runs/{id}.html" */
    enum role role;   /* the lowest role that may request the page */
    /* Whether `write` waits for a model server, or for its turn to draw a picture. If so, it runs
     * on the workers that are allowed to wait. */
    bool waits;
    bool takes_file; /* POST: the form can contain a file of up to 64 MiB, as multipart/form-data */
    /* Returns false after an error. The error then becomes the answer (a page, if a browser sent
     * the request), with the HTTP status for its kind. */
    CHECKED bool (*write)(const struct page_request *request, struct page_answer *answer,
                          struct error *error);
};
/* The last row has a NULL path. If two rows match a request, the first one is used. */
extern const struct page pages[];

/* ---- Shared by pages ---- */

/* Returns the text as a string, or NULL if it is empty. */
const char *page_text(const struct text *text);

/* Return a parameter from the query, a field of the form, or a parameter from the path. If it is
 * missing or empty, page_query and page_form return NULL, and page_place returns "". */
const char *page_query(const struct page_request *request, const char *name);
const char *page_form(const struct page_request *request, const char *name);
const char *page_place(const struct page_request *request, const char *name);
/* Whether the user has at least this role. Buttons that need a higher one are not shown. */
bool page_may(const struct page_request *request, enum role role);
/* Operators may cancel what they started; admins may cancel everything. */
bool page_may_cancel(const struct page_request *request, const char *started_by);

/* Describes a change that a page makes itself, without calling a tool. The audit log records it
 * under the name `tool`. `tool` and `arguments` are borrowed. */
struct change page_change(const struct page_request *request, const char *tool,
                          const char *arguments);
/* Records in the audit log that such a change was refused. */
void page_note_refusal(const struct page_request *request, const struct change *change,
                       const char *subject, const struct error *why);

/* Opens a <form method="post"> with the token; close it with html_close(html, "form"). */
void page_form_begin(const struct page_request *request, struct html *html, const char *action);
/* Does the same for a form that sends a file. Users can also drop the file on the form. */
void page_file_form_begin(const struct page_request *request, struct html *html,
                          const char *action);
/* Appends a path to a URL, escaped except for its slashes. */
void page_url_add_path(struct text *url, const char *path);
/* Appends "name=value" to a URL, escaped, after a ? or &. Appends nothing if `value` is NULL. */
void page_url_add(struct text *url, const char *name, const char *value);
