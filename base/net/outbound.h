/* SPDX-License-Identifier: Apache-2.0 */
/* Calls to other servers, one at a time, on the caller's thread: bounded, cancellable, and never to
 * a refused address (the connected address is checked on every use; redirects are off). The load
 * generator has its own client. */
#pragma once

#include <stdint.h>

#include "base/core/error.h"
#include "base/core/text.h"
#include "base/llm/failure.h"
#include "base/net/server_list.h"
#include "base/net/url.h"

#define OUTBOUND_CONNECT_MS 10000
#define OUTBOUND_TOTAL_MS 60000

/* Other trust than the machine's, as PEM. */
struct outbound_tls {
    const char *authorities;       /* "": the machine's authorities */
    const char *certificate, *key; /* of the client; secret; "": none */
};

struct outbound_request {
    const char *method; /* NULL: GET, or POST if there is a body */
    const char *url;
    const char *socket_path; /* of a server on this machine; NULL: by TCP, as in the URL */
    const char *bearer;      /* secret; NULL for none */
    const struct server_list *servers; /* servers that the address must be one of; NULL: any */
    const char *body;                  /* NULL for none */
    size_t body_length;
    const char *content_type;       /* content type of the body; NULL: application/json */
    const struct outbound_tls *tls; /* NULL: the machine's authorities, no client's certificate */
    const char *proxy;              /* URL; NULL or "": none */
    const char *kept_header;        /* name of a further header of the answer to keep; NULL: none */
    bool to_metadata; /* this call may reach the machine's metadata service, and nothing else; only
                         fleet/cloud sets it */
    const char *accept;         /* NULL: application/json */
    const char *const *headers; /* further ones, "Name: value"; end with NULL; NULL: none */
    /* 0: the two above, none. idle: the longest time without a byte, the wait for the first one
     * included. */
    int64_t connect_timeout_ms, total_timeout_ms, idle_timeout_ms;
    size_t response_limit_bytes; /* 0: 16 MiB; a larger one is FAILURE_PROTOCOL */
    /* Streaming: called with each piece of a 2xx body, which is then not stored; false stops the
     * transfer. */
    bool (*on_bytes)(void *context, const char *bytes, size_t length);
    bool (*cancelled)(void *context); /* asked at least 5 times a second; NULL: never */
    void *context;
};

struct outbound_response {
    long status;
    char content_type[128];
    char server[128];
    char location[128];    /* for a redirect: scheme, host and path */
    char kept_header[128]; /* value of the header named in the call; "": the answer lacks it */
    int64_t retry_after_s; /* -1: not given */
    struct text body;      /* for errors also when streaming (first 64 KiB) */
    enum failure failure;  /* FAILURE_NONE exactly if the status is 2xx and the body arrived
                            * completely */
    int64_t sent_ns, first_byte_ns, end_ns; /* monotonic; 0: it did not happen */
};

/* Whether the answer is a web page, which an API never sends. */
bool outbound_is_page(const struct outbound_response *response);
/* "; " and where the API may be found if not at `url`. */
void outbound_advise_page(const char *url, struct text *out);

/* True if a 2xx answer arrived completely. On false `response` is filled as far as the call went,
 * its `failure` has the class and `error` the sentence (URL's host and port). Neither repeats the
 * bearer, whatever the server says; what on_bytes receives may, and must be masked (mask.h) once
 * decoded. Free with outbound_response_finish in both cases. */
CHECKED bool outbound_perform(const struct outbound_request *request,
                              struct outbound_response *response, struct error *error);
void outbound_response_finish(struct outbound_response *response);

CHECKED bool outbound_global_init(struct error *error); /* once, before threads; ignores SIGPIPE */
void outbound_global_finish(void);
