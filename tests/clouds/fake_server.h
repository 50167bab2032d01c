/* SPDX-License-Identifier: Apache-2.0 */
/* An HTTP server on the loopback interface or at a Unix socket, for the fake clouds. Each
 * connection has a thread, but the function that answers requests runs for only one request at a
 * time. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/core/text.h"

struct fake_request {
    const char *method, *path;                  /* path: without the query */
    const char *query;                          /* as sent, without '?'; "" if there is none */
    const char *bearer;                         /* the bearer token; "" if there is none */
    const char *content_type, *metadata_flavor; /* headers; "" if missing */
    const char *body;                           /* NUL-terminated */
    size_t length;
};

struct fake_reply {
    int status;                 /* 0: 200 */
    const char *type;           /* NULL: application/json */
    const char *header, *value; /* an additional header; NULL: none */
    struct text body;
    bool breaks_off; /* the connection ends without an answer */
};

typedef void fake_answer_function(void *context, const struct fake_request *request,
                                  struct fake_reply *reply);

struct fake_server;
/* Start a server: on any free port, on the given port (0: any free one), or at the path of a Unix
 * socket. The functions abort if they cannot listen there. */
struct fake_server *fake_server_start(fake_answer_function *answer, void *context);
struct fake_server *fake_server_start_on(int port, fake_answer_function *answer, void *context);
struct fake_server *fake_server_start_at(const char *path, fake_answer_function *answer,
                                         void *context);
int fake_server_port(const struct fake_server *server);
/* Between these two calls the answer function does not run, so that the fake's objects can be read
 * and changed. */
void fake_server_hold(struct fake_server *server);
void fake_server_release(struct fake_server *server);
void fake_server_stop(struct fake_server *server); /* does nothing for NULL */

/* A filter in front of the answer function. It is called before a request is carried out; if it
 * then returns true, its `reply` is sent, and the request is not carried out. It is called again
 * after a request was carried out, and can change the reply before it is sent. */
enum fake_moment { FAKE_BEFORE, FAKE_AFTER };
typedef bool fake_guard_function(void *context, enum fake_moment moment,
                                 const struct fake_request *request, struct fake_reply *reply,
                                 void **memory); /* carried from the first call to the second */
void fake_server_guard(struct fake_server *server, fake_guard_function *guard, void *context);

/* Returns the decoded value of a query parameter; NULL if it is missing. The caller frees it. */
char *fake_server_parameter(const struct fake_request *request, const char *name);

/* Adds an object, given as JSON, to a fake cloud's objects, as if somebody else had made it. */
void fake_server_add(json_t *objects, const char *path, const char *object);
