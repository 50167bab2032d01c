/* SPDX-License-Identifier: Apache-2.0 */
/* Calls a cloud with one credential. cloud_call sends the credential only to the services in the
 * table of endpoints or to the credential's own Kubernetes API server; no answer, error or log
 * repeats it. */
#pragma once

#include <jansson.h>

#include "base/core/error.h"
#include "base/net/secrets.h"

/* ---- Which servers ---- */

/* The clouds' services by name ("run", "compute", "tpu", ...), with their base URLs. */
struct cloud_endpoints;
/* `text` replaces base URLs: "run=http://127.0.0.1:8001, token=http://127.0.0.1:8002"; "" replaces
 * none. INVALID if an entry is not NAME=URL with a name in the table (the message lists the names);
 * a wrong URL fails with the error of url_origin. Free with cloud_endpoints_destroy. */
CHECKED bool cloud_endpoints_create(const char *text, struct cloud_endpoints **out,
                                    struct error *error);
void cloud_endpoints_destroy(struct cloud_endpoints *endpoints); /* does nothing for NULL */

/* ---- Which credential ---- */

enum cloud_kind {
    CLOUD_NONE = 1,             /* no credential: this machine */
    CLOUD_WORKLOAD_IDENTITY,    /* this machine's identity, from Google's metadata server */
    CLOUD_SERVICE_ACCOUNT_FILE, /* a JSON file from Google */
    CLOUD_KUBECONFIG,           /* with a token or a client certificate */
    CLOUD_IN_CLUSTER,           /* the service account of opsbrain's own pod */
};
enum cloud_kind cloud_kind_find(const char *name); /* 0 if there is no such name */
const char *cloud_kind_name(enum cloud_kind kind); /* "workload_identity", ...; static */

#define CLOUD_FILE_SIZE 128
struct cloud_credential {
    enum cloud_kind kind;
    char file[CLOUD_FILE_SIZE]; /* in the secrets folder; "" for the kinds without a file */
};
/* INVALID if the kind is unknown, if it needs a file and `file` is not a valid name, or if it has
 * no file and `file` is not "". A valid name consists of a-z, 0-9, '-', '_' and '.', does not begin
 * with '-' or '.', does not end in ".origins", and has a '.'. The names of deployments' secrets
 * have no '.', so no deployment can use the file as its secret. */
CHECKED bool cloud_credential_check(const struct cloud_credential *credential, struct error *error);

struct cloud_reply;

/* This machine as a platform. It answers the calls that are made with the credential "none". */
struct cloud_machine {
    CHECKED bool (*answer)(void *context, const char *method, const char *path, const json_t *body,
                           struct cloud_reply *out, struct error *error);
    void *context;
};

struct cloud_config {
    const char *secrets_folder; /* "" if there is none */
    const struct cloud_endpoints *endpoints;
    const char *proxy;          /* for all calls except those to the metadata server; "": none */
    const char *account_folder; /* has the pod's service account; NULL: Kubernetes' usual folder */
    const struct cloud_machine *machine; /* borrowed; NULL: no deployments on this machine */
    bool (*stopping)(void *context); /* called at least 5 times a second; NULL: never stopping */
    void *context;
    int64_t (*now_ms)(void); /* NULL: clock_utc_ms */
};

/* ---- Calls ---- */

struct cloud; /* thread-safe; tokens are kept in memory only */
struct outbound_tls;

/* Reads the credential's file, but calls no server. The strings are copied, the endpoints are
 * borrowed. Free with cloud_destroy. */
CHECKED bool cloud_create(const struct cloud_credential *credential,
                          const struct cloud_config *config, struct cloud **out,
                          struct error *error);
void cloud_destroy(struct cloud *cloud); /* wipes it; does nothing for NULL */
/* Returns the namespace of the kubeconfig or of the pod; "" if the credential states none.
 * Borrowed. */
const char *cloud_namespace(const struct cloud *cloud);
/* Returns the service account's e-mail address or the kubeconfig's user; "" if the credential
 * states neither. Borrowed. */
const char *cloud_identity(const struct cloud *cloud);
/* Returns the base URL of the credential's own API server; "" if it has none. Borrowed. */
const char *cloud_server(const struct cloud *cloud);
/* Returns true if a URL is on the credential's own API server, so that calling it needs this
 * credential. */
bool cloud_is_own(const struct cloud *cloud, const char *url);
/* Returns the certificate authorities of the credential's own API server and the client
 * certificate for it; NULL if there is no such server. Borrowed. */
const struct outbound_tls *cloud_tls(const struct cloud *cloud);

/* What an answer means for the caller's next step. */
enum cloud_verdict {
    CLOUD_DONE = 1, /* 2xx, with a body in the expected form */
    CLOUD_AGAIN,    /* nothing was changed: send the same request again after retry_after_s */
    CLOUD_LOST,    /* the request was sent and may have been carried out: read the resource first */
    CLOUD_REFUSED, /* nothing was changed, and sending the same request again would not help */
};

struct cloud_reply {
    long status; /* 0: there was no complete answer */
    enum cloud_verdict verdict;
    json_t *body;          /* with any status; NULL if it is not JSON */
    char *text;            /* a 2xx body of a GET that accepts CLOUD_TEXT (logs); NULL otherwise */
    char kind[64];         /* the cloud's error code: "ALREADY_EXISTS", "AlreadyExists", ... */
    char message[480];     /* one sentence; "" after CLOUD_DONE */
    int64_t retry_after_s; /* wait before the next attempt; > 0 after CLOUD_AGAIN */
};
void cloud_reply_finish(struct cloud_reply *reply);
#define CLOUD_REPLY_AUTO __attribute__((cleanup(cloud_reply_finish))) struct cloud_reply

#define CLOUD_TEXT "text/plain, */*" /* Kubernetes refuses text/plain alone for its logs */

/* Sends one request. After a 401, sends it once more, without a pause, if a different token can be
 * fetched. `url` begins with the base URL of any service in the table except "token" and
 * "metadata" ("https://run.googleapis.com/v2/..."). With a Kubernetes credential, it is a path on
 * the credential's own API server ("/apis/..."); without a credential, a path on this machine. Any
 * other URL is FORBIDDEN, and no token is fetched for it.
 * `content_type` NULL: application/json; for a GET it is the accepted type. `body` NULL: none.
 * Returns true for 2xx with JSON, or with text if CLOUD_TEXT was requested; otherwise `error` has
 * the message. In both cases *out is filled; free it with cloud_reply_finish. */
CHECKED bool cloud_call(struct cloud *cloud, const char *method, const char *url,
                        const char *content_type, const json_t *body, struct cloud_reply *out,
                        struct error *error);
/* Sends a GET, and repeats it a few times if the verdict is CLOUD_AGAIN and the wait is short. */
CHECKED bool cloud_read(struct cloud *cloud, const char *url, struct cloud_reply *out,
                        struct error *error);

/* Returns a Google ID token for calling a server that the cloud runs; `audience` is the server's
 * origin, without a path. Cached until shortly before it expires. */
CHECKED bool cloud_id_token(struct cloud *cloud, const char *audience, char out[SECRET_VALUE_SIZE],
                            struct error *error);
/* Returns the token for the credential's own API server; "" if it uses a client certificate
 * instead. UNSUPPORTED for credentials without a server of their own. */
CHECKED bool cloud_server_token(struct cloud *cloud, char out[SECRET_VALUE_SIZE],
                                struct error *error);
