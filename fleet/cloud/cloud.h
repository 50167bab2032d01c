/* SPDX-License-Identifier: Apache-2.0 */
/* Calls a cloud with one credential. cloud_call sends the credential's token only to the services
 * in the table of endpoints (cloud_endpoints.c) or to the credential's own Kubernetes API server.
 * No answer, error or log repeats the credential or the token. */
#pragma once

#include <jansson.h>

#include "base/core/error.h"
#include "base/net/secrets.h"

/* ---- Which servers ---- */

/* Google Cloud's services by name ("run", "compute", "tpu", ...), with their base URLs. */
struct cloud_endpoints;
/* `text` replaces base URLs: "run=http://127.0.0.1:8001, token=http://127.0.0.1:8002"; "" replaces
 * none. INVALID if an entry is not NAME=URL with a name in the table (the message lists the names);
 * a wrong URL fails with the error of url_origin. Free with cloud_endpoints_destroy. */
CHECKED bool cloud_endpoints_create(const char *text, struct cloud_endpoints **out,
                                    struct error *error);
void cloud_endpoints_destroy(struct cloud_endpoints *endpoints); /* does nothing for NULL */

/* ---- Which credential ---- */

enum cloud_kind {
    CLOUD_NONE = 1,             /* no credential; only for calls to this machine */
    CLOUD_WORKLOAD_IDENTITY,    /* this machine's identity, from Google's metadata server */
    CLOUD_SERVICE_ACCOUNT_FILE, /* a JSON file from Google */
    CLOUD_KUBECONFIG,           /* a file with a token or a client certificate */
    CLOUD_IN_CLUSTER,           /* the service account of opsbrain's own pod */
};
enum cloud_kind cloud_kind_find(const char *name); /* 0 if there is no such name */
/* Returns the kind's name, such as "workload_identity"; "" if there is no such kind. The string is
 * static. */
const char *cloud_kind_name(enum cloud_kind kind);

#define CLOUD_FILE_SIZE 128
struct cloud_credential {
    enum cloud_kind kind;
    char file[CLOUD_FILE_SIZE]; /* a name in the secrets folder; "" if the kind has no file */
};
/* INVALID if the kind is unknown, if the kind needs a file and `file` is not a valid name, or if
 * the kind has no file and `file` is not "". A valid name has at most 127 characters from a-z, 0-9,
 * '-', '_' and '.', has a '.', does not begin with '-' or '.', and does not end in ".origins". The
 * names of deployments' secrets have no '.', so no deployment can use the file as its secret. */
CHECKED bool cloud_credential_check(const struct cloud_credential *credential, struct error *error);

struct cloud_reply;

/* This machine in the role of a cloud: `answer` answers the calls that are made with the credential
 * "none". It gets `context` as its first argument. */
struct cloud_machine {
    CHECKED bool (*answer)(void *context, const char *method, const char *path, const json_t *body,
                           struct cloud_reply *out, struct error *error);
    void *context;
};

struct cloud_config {
    const char *secrets_folder; /* "" if there is none */
    const struct cloud_endpoints *endpoints;
    /* URL of a proxy for all calls except those to Google's metadata server; "" or NULL: none */
    const char *proxy;
    /* folder with the service account of opsbrain's pod; NULL: Kubernetes' usual folder */
    const char *account_folder;
    const struct cloud_machine *machine; /* borrowed; NULL: no deployments on this machine */
    /* Returns true if the process is stopping. Called at least 5 times a second during a call or a
     * wait. NULL: the process never stops. */
    bool (*stopping)(void *context);
    void *context;           /* for `stopping` */
    int64_t (*now_ms)(void); /* returns the time in UTC milliseconds; NULL: clock_utc_ms */
};

/* ---- Calls ---- */

struct cloud; /* thread-safe; tokens are kept only in memory */
struct outbound_tls;

/* Reads the credential's files, but calls no server. Copies the strings in `config`, and borrows
 * its endpoints and its machine. Free with cloud_destroy. */
CHECKED bool cloud_create(const struct cloud_credential *credential,
                          const struct cloud_config *config, struct cloud **out,
                          struct error *error);
void cloud_destroy(struct cloud *cloud); /* wipes the secrets; does nothing for NULL */
/* Returns the namespace that the kubeconfig names or that the pod is in; "" if the credential has
 * neither. Borrowed. */
const char *cloud_namespace(const struct cloud *cloud);
/* Returns the service account's e-mail address or the kubeconfig's user; "" if the credential
 * has neither. Borrowed. */
const char *cloud_identity(const struct cloud *cloud);
/* Returns the base URL of the credential's own API server; "" if it has none. Borrowed. */
const char *cloud_server(const struct cloud *cloud);
/* Returns true if a URL is on the credential's own API server, so that calling it needs this
 * credential. */
bool cloud_is_own(const struct cloud *cloud, const char *url);
/* Returns the certificate authorities and the client certificate for calls to the credential's own
 * API server; NULL if it has no such server. Borrowed. */
const struct outbound_tls *cloud_tls(const struct cloud *cloud);

/* What an answer means for the caller's next step. */
enum cloud_verdict {
    CLOUD_DONE = 1, /* 2xx, with a body in the expected form */
    CLOUD_AGAIN,    /* nothing was changed: send the same request again after retry_after_s */
    CLOUD_LOST,     /* the request may have been carried out: read the resource before retrying */
    CLOUD_REFUSED,  /* nothing was changed, and sending the same request again would not help */
};

struct cloud_reply {
    long status; /* of the HTTP answer; 0: there was no complete answer */
    enum cloud_verdict verdict;
    json_t *body;      /* the answer's body, whatever the status; NULL if it is not JSON */
    char *text;        /* a 2xx body of a GET that accepts CLOUD_TEXT (logs); NULL otherwise */
    char kind[64];     /* the cloud's error code, such as "ALREADY_EXISTS"; "" if it gave none */
    char message[480]; /* what went wrong, in one sentence; "" after CLOUD_DONE */
    int64_t retry_after_s; /* wait before the next attempt; above 0 after CLOUD_AGAIN */
};
void cloud_reply_finish(struct cloud_reply *reply);
#define CLOUD_REPLY_AUTO __attribute__((cleanup(cloud_reply_finish))) struct cloud_reply

#define CLOUD_TEXT "text/plain, */*" /* Kubernetes refuses text/plain alone for its logs */

/* Sends one request. After a 401, sends it once more, without a pause, if a different token can be
 * fetched. With a Google credential, `url` begins with the base URL of any service in the table
 * except "token" and "metadata" ("https://run.googleapis.com/v2/..."). With a Kubernetes
 * credential, it is a path on the credential's own API server ("/apis/..."); without a credential,
 * a path on this machine. Any other URL is FORBIDDEN, and no token is fetched for it.
 * `content_type` is the type of the body or, for a GET, the accepted type; NULL: application/json.
 * `body` NULL: the request has no body.
 * Returns true for 2xx with JSON, or with text if CLOUD_TEXT was requested; otherwise `error` has
 * the message. In both cases *out is filled; free it with cloud_reply_finish. */
CHECKED bool cloud_call(struct cloud *cloud, const char *method, const char *url,
                        const char *content_type, const json_t *body, struct cloud_reply *out,
                        struct error *error);
/* Sends a GET. Repeats it up to 3 times, while the verdict is CLOUD_AGAIN and the reply asks for a
 * wait of at most 8 s. */
CHECKED bool cloud_read(struct cloud *cloud, const char *url, struct cloud_reply *out,
                        struct error *error);

/* Returns a Google ID token for calling a server that the cloud runs. `audience` is the server's
 * origin, without a path. The token is cached until shortly before it expires. */
CHECKED bool cloud_id_token(struct cloud *cloud, const char *audience, char out[SECRET_VALUE_SIZE],
                            struct error *error);
/* Returns the token for the credential's own API server; "" if the credential has a client
 * certificate instead. UNSUPPORTED for credentials without such a server. */
CHECKED bool cloud_server_token(struct cloud *cloud, char out[SECRET_VALUE_SIZE],
                                struct error *error);
