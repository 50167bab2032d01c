/* SPDX-License-Identifier: Apache-2.0 */
/* HTTP calls to other servers. A call runs on the caller's thread, is limited in time and size, and
 * can be cancelled. It makes no TCP connection to a refused address (outbound_address.h); but a
 * call with `to_metadata` connects to one of these, the metadata server's, and to no other address.
 * With a proxy, only the proxy's address is checked. Redirects are not followed. The load generator
 * has its own client. */
#pragma once

#include <stdint.h>

#include "base/core/error.h"
#include "base/core/text.h"
#include "base/llm/failure.h"
#include "base/net/server_list.h"
#include "base/net/url.h"

#define OUTBOUND_CONNECT_MS 10000
#define OUTBOUND_TOTAL_MS 60000

/* Certificates in PEM form, for a server whose certificate was not issued by one of the machine's
 * certificate authorities, or that requires a client certificate. SSL_CERT_FILE can
 * replace the machine's file of authorities (outbound_code.h). */
struct outbound_tls {
    const char *authorities;       /* "": the machine's authorities */
    const char *certificate, *key; /* the client's; the key is secret; "": none */
};

struct outbound_request {
    const char *method; /* NULL: GET, or POST if there is a body */
    const char *url;
    const char *socket_path;           /* the Unix socket of a server on this machine; NULL: TCP */
    const char *bearer;                /* secret; NULL for none */
    const struct server_list *servers; /* the address must be listed here; NULL: any */
    const char *body;                  /* NULL for none */
    size_t body_length;
    const char *content_type;       /* content type of the body; NULL: application/json */
    const struct outbound_tls *tls; /* NULL: the machine's authorities, no client certificate */
    const char *proxy;              /* URL; NULL or "": none */
    const char *kept_header;        /* answer header whose value is returned; NULL: none */
    /* The call can reach 169.254.169.254, the address of Google's metadata server, and nothing
     * else. Only fleet/cloud sets this. */
    bool to_metadata;
    const char *accept; /* NULL: application/json */
    /* Further headers, each "Name: value". The last item is NULL. A NULL pointer: no headers. */
    const char *const *headers;
    int64_t connect_timeout_ms; /* 0: OUTBOUND_CONNECT_MS */
    int64_t total_timeout_ms;   /* 0: OUTBOUND_TOTAL_MS */
    int64_t idle_timeout_ms; /* longest time without a byte, even before the first; 0: no limit */
    size_t response_limit_bytes; /* a larger 2xx body causes FAILURE_PROTOCOL; 0: 16 MiB */
    /* Called with each piece of a 2xx body, which is then not stored; false stops the transfer. */
    bool (*on_bytes)(void *context, const char *bytes, size_t length);
    /* Returns whether to stop; called at least 5 times a second. May be NULL. */
    bool (*cancelled)(void *context);
    void *context;
};

struct outbound_response {
    long status; /* HTTP status; 0: there was no answer */
    char content_type[128];
    char server[128];
    /* The target of a redirect, without query and fragment; "" if there is none, or if it contains
     * '@' and so perhaps a credential. */
    char location[128];
    char kept_header[128]; /* value of request->kept_header; "": the answer lacks it */
    int64_t retry_after_s; /* how long the server asks us to wait, in seconds; -1: not given */
    struct text body;      /* for an error, its first 64 KiB; empty for a 2xx with on_bytes */
    enum failure failure;  /* NONE if the status is 2xx and the body arrived completely */
    int64_t sent_ns;       /* when sending began (monotonic); 0: it did not begin */
    int64_t first_byte_ns; /* when the answer's first byte arrived (monotonic); 0: none arrived */
    int64_t end_ns;        /* when the call ended (monotonic) */
};

/* Whether the answer is a web page (HTML) and so does not come from an API. */
bool outbound_is_page(const struct outbound_response *response);
/* For a `url` that answered with a web page: appends "; " and advice on where the API might be. */
void outbound_advise_page(const char *url, struct text *out);

/* Returns true if a 2xx answer arrived completely. Otherwise, `response` has the class of failure
 * and what is known of the answer, and `error` has a message, usually with the URL's host and port,
 * and one of these kinds: INVALID (a malformed URL, or a bearer that a header cannot contain),
 * FORBIDDEN (an address that is refused or not in `servers`), TIMEOUT, CANCELLED, BUSY (a limit of
 * this machine was reached), or UPSTREAM. The bearer is hidden in `response` and in `error`, within
 * the limits that mask.h states. The bytes passed to on_bytes may contain the bearer, so the caller
 * must decode and then mask them. In both cases, free `response` with outbound_response_finish. */
CHECKED bool outbound_perform(const struct outbound_request *request,
                              struct outbound_response *response, struct error *error);
void outbound_response_finish(struct outbound_response *response);

/* Call this once, before any thread is started. From then on, the process ignores SIGPIPE. */
CHECKED bool outbound_global_init(struct error *error);
void outbound_global_finish(void);
