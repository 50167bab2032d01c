/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/cloud/cloud.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/core/clock.h"
#include "base/core/memory.h"
#include "base/core/random.h"
#include "base/json/json.h"
#include "base/net/outbound.h"
#include "fleet/cloud/cloud_endpoints.h"
#include "fleet/cloud/cloud_problem.h"
#include "fleet/cloud/cloud_tokens.h"

#define ACCOUNT_FOLDER "/var/run/secrets/kubernetes.io/serviceaccount"
#define ANSWER_BYTES (8 << 20)
#define USUAL_WAIT_S 2
#define READS_MAX 4
#define READ_WAIT_S 8 /* cloud_read does not retry if the reply asks for a longer wait */

/* ---- Creating and freeing ---- */

static void copy_config(struct cloud *cloud, const struct cloud_config *config)
{
    cloud->endpoints = config->endpoints;
    text_copy(cloud->secrets_folder, sizeof cloud->secrets_folder, config->secrets_folder);
    text_copy(cloud->account_folder, sizeof cloud->account_folder,
              config->account_folder != NULL ? config->account_folder : ACCOUNT_FOLDER);
    text_copy(cloud->proxy, sizeof cloud->proxy, config->proxy != NULL ? config->proxy : "");
    cloud->machine = config->machine;
    cloud->stopping = config->stopping;
    cloud->context = config->context;
    cloud->now_ms = config->now_ms != NULL ? config->now_ms : clock_utc_ms;
}

bool cloud_create(const struct cloud_credential *credential, const struct cloud_config *config,
                  struct cloud **out, struct error *error)
{
    struct cloud *cloud;

    if (!cloud_credential_check(credential, error))
        return false;
    cloud = memory_zeroed(1, sizeof *cloud);
    cloud->credential = *credential;
    cloud->tokens = memory_zeroed(CLOUD_TOKENS_MAX, sizeof *cloud->tokens);
    pthread_mutex_init(&cloud->lock, NULL);
    copy_config(cloud, config);
    if (cloud_source_of(credential->kind)->read != NULL
        && !cloud_source_of(credential->kind)->read(cloud, error)) {
        cloud_destroy(cloud);
        return false;
    }
    cloud->tls = (struct outbound_tls){ cloud->kubeconfig.authorities,
                                        cloud->kubeconfig.certificate, cloud->kubeconfig.key };
    *out = cloud;
    return true;
}

void cloud_destroy(struct cloud *cloud)
{
    if (cloud == NULL)
        return;
    if (cloud->account.key != NULL)
        secret_file_free(cloud->account.key, strlen(cloud->account.key));
    cloud_kubeconfig_finish(&cloud->kubeconfig);
    explicit_bzero(cloud->tokens, cloud->token_count * sizeof *cloud->tokens);
    free(cloud->tokens);
    pthread_mutex_destroy(&cloud->lock);
    free(cloud);
}

const char *cloud_namespace(const struct cloud *cloud)
{
    return cloud->kubeconfig.namespace;
}

const char *cloud_identity(const struct cloud *cloud)
{
    return cloud->account.email[0] != '\0' ? cloud->account.email : cloud->kubeconfig.user;
}

const char *cloud_server(const struct cloud *cloud)
{
    return cloud->kubeconfig.server;
}

/* The path must begin where the server's URL ends: a URL with port 30001 is not on a server with
 * port 3000. */
bool cloud_is_own(const struct cloud *cloud, const char *url)
{
    size_t length = strlen(cloud->kubeconfig.server);

    return length > 0 && strncmp(url, cloud->kubeconfig.server, length) == 0
           && (url[length] == '/' || url[length] == '\0');
}

const struct outbound_tls *cloud_tls(const struct cloud *cloud)
{
    return cloud_source_of(cloud->credential.kind)->has_server ? &cloud->tls : NULL;
}

bool cloud_server_token(struct cloud *cloud, char out[SECRET_VALUE_SIZE], struct error *error)
{
    if (!cloud_source_of(cloud->credential.kind)->has_server)
        return error_set(error, ERROR_UNSUPPORTED,
                         "a credential of kind %s has no API server of its own",
                         cloud_kind_name(cloud->credential.kind));
    return cloud_tokens_get(cloud, "", NULL, out, error);
}

/* ---- One exchange ---- */

struct exchange {
    struct cloud *cloud;
    const char *method, *content_type;
    char url[CLOUD_URL_SIZE];
    char *body; /* NULL: none */
    bool is_read;
};

static CHECKED bool resolve(struct exchange *exchange, const char *url, struct error *error)
{
    const struct cloud *cloud = exchange->cloud;

    if (!cloud_source_of(cloud->credential.kind)->has_server)
        return cloud_endpoints_resolve(cloud->endpoints, url, exchange->url, error);
    if (url[0] != '/' || url[1] == '/')
        return error_set(error, ERROR_FORBIDDEN,
                         "a Kubernetes credential is sent only to its own API server");
    if ((size_t)snprintf(exchange->url, sizeof exchange->url, "%s%s", cloud->kubeconfig.server, url)
        >= sizeof exchange->url)
        return error_set(error, ERROR_INVALID, "a request's URL is longer than %d bytes",
                         CLOUD_URL_SIZE - 1);
    return cloud_url_check(url, error);
}

/* Reads the body of an answer: JSON with any status, or text with 2xx if the caller accepts text.
 * Anything else, such as a captive portal's login page, leaves out->body and out->text NULL. */
static void read_body(const struct exchange *exchange, struct outbound_response *response,
                      struct cloud_reply *out)
{
    bool is_json = strncasecmp(response->content_type, "application/json", 16) == 0;
    bool is_text = exchange->is_read && exchange->content_type != NULL
                   && strcmp(exchange->content_type, CLOUD_TEXT) == 0
                   && strncasecmp(response->content_type, "text/plain", 10) == 0;
    struct error ignored;

    if (is_json
        && json_parse(text_string(&response->body), response->body.length, &out->body, &ignored))
        return;
    if (out->status >= 200 && out->status < 300 && is_text)
        out->text = text_take(&response->body);
}

/* Returns the verdict on an exchange without a complete answer. If the request was sent, it may
 * have made a change. */
static enum cloud_verdict judge_failure(const struct exchange *exchange,
                                        const struct outbound_response *response)
{
    switch ((int)response->failure) {
    case FAILURE_TLS:
        return CLOUD_REFUSED;
    case FAILURE_CLIENT_LIMIT:
    case FAILURE_DNS:
    case FAILURE_CONNECT_REFUSED:
    case FAILURE_CONNECT_TIMEOUT:
        return CLOUD_AGAIN;
    default:
        if (response->sent_ns == 0)
            return response->failure == FAILURE_CANCELLED || response->failure == FAILURE_RESET
                       ? CLOUD_AGAIN
                       : CLOUD_REFUSED; /* such as a refused address or a bad URL */
        return exchange->is_read ? CLOUD_AGAIN : CLOUD_LOST;
    }
}

static bool has_answer(const struct outbound_response *response)
{
    return response->status >= 200 && response->failure != FAILURE_RESET
           && response->failure != FAILURE_TOTAL_TIMEOUT && response->failure != FAILURE_CANCELLED
           && !(response->status < 300 && response->failure != FAILURE_NONE);
}

static enum error_kind kind_of_status(long status)
{
    switch (status) {
    case 400:
    case 422:
        return ERROR_INVALID;
    case 401:
        return ERROR_UNAUTHENTICATED;
    case 403:
        return ERROR_FORBIDDEN;
    case 404:
        return ERROR_NOT_FOUND;
    case 409:
    case 412:
        return ERROR_CONFLICT;
    case 429:
        return ERROR_BUSY;
    default:
        return ERROR_UPSTREAM;
    }
}

static const char *host_of(const char *url)
{
    const char *host = strstr(url, "://");

    return host != NULL ? host + 3 : url;
}

/* Sets the verdict for an answer that is not 2xx and, if its body is JSON, the error message. */
static CHECKED bool explain(const struct exchange *exchange,
                            const struct outbound_response *response, struct cloud_reply *out,
                            struct error *error)
{
    struct cloud_problem problem;
    const char *host = host_of(exchange->url);

    cloud_problem_read(out->status, out->body, &problem);
    text_copy(out->kind, sizeof out->kind, problem.kind);
    out->verdict = cloud_problem_judge(out->status, out->body, exchange->is_read);
    out->retry_after_s =
        problem.retry_after_s > 0 ? problem.retry_after_s : response->retry_after_s;
    if (out->body != NULL)
        error_set(error, kind_of_status(out->status), "%.*s: %s (%ld%s%s)", (int)strcspn(host, "/"),
                  host, problem.message, out->status, out->kind[0] != '\0' ? " " : "", out->kind);
    return false;
}

static CHECKED bool read_reply(const struct exchange *exchange, bool done,
                               struct outbound_response *response, struct cloud_reply *out,
                               struct error *error)
{
    bool answered = has_answer(response);

    out->status = answered ? response->status : 0;
    if (answered)
        read_body(exchange, response, out);
    if (answered && done && (out->body != NULL || out->text != NULL)) {
        out->verdict = CLOUD_DONE;
        return true;
    }
    if (answered && done) {
        out->verdict = exchange->is_read ? CLOUD_AGAIN : CLOUD_LOST;
        error_set(error, ERROR_UPSTREAM, "%.*s answered %ld with a body that is not JSON",
                  (int)strcspn(host_of(exchange->url), "/"), host_of(exchange->url), out->status);
    } else if (answered)
        error_ignore(explain(exchange, response, out, error)); /* explain() always returns false */
    else
        out->verdict = judge_failure(exchange, response);
    if (out->retry_after_s <= 0)
        out->retry_after_s = USUAL_WAIT_S;
    text_copy(out->message, sizeof out->message, error->message);
    return false;
}

static CHECKED bool send_with(const struct exchange *exchange, const char *token,
                              struct cloud_reply *out, struct error *error)
{
    struct cloud *cloud = exchange->cloud;
    struct outbound_request request = {
        .method = exchange->method,
        .url = exchange->url,
        .bearer = token[0] != '\0' ? token : NULL,
        .body = exchange->body,
        .body_length = exchange->body != NULL ? strlen(exchange->body) : 0,
        .content_type = exchange->content_type,
        .accept = exchange->is_read && exchange->content_type != NULL ? exchange->content_type
                                                                      : "application/json, */*",
        .proxy = cloud->proxy,
        .tls = cloud_tls(cloud),
        .response_limit_bytes = ANSWER_BYTES,
        .cancelled = cloud->stopping,
        .context = cloud->context,
    };
    struct outbound_response response;
    bool done = outbound_perform(&request, &response, error);

    done = read_reply(exchange, done, &response, out, error);
    outbound_response_finish(&response);
    return done;
}

static CHECKED bool refuse_without_token(struct cloud_reply *out, const struct error *error)
{
    bool again = error->kind == ERROR_UPSTREAM || error->kind == ERROR_TIMEOUT
                 || error->kind == ERROR_BUSY || error->kind == ERROR_CANCELLED;

    out->verdict = again ? CLOUD_AGAIN : CLOUD_REFUSED;
    out->retry_after_s = USUAL_WAIT_S;
    text_copy(out->message, sizeof out->message, error->message);
    return false;
}

/* A server answers 401 before it does anything, so the request can safely be sent again with a new
 * token. */
static CHECKED bool perform(const struct exchange *exchange, struct cloud_reply *out,
                            struct error *error)
{
    char token[SECRET_VALUE_SIZE], renewed[SECRET_VALUE_SIZE];
    struct error ignored;
    bool done;

    if (!cloud_tokens_get(exchange->cloud, "", NULL, token, error))
        return refuse_without_token(out, error);
    done = send_with(exchange, token, out, error);
    if (!done && out->status == 401 && token[0] != '\0'
        && cloud_tokens_get(exchange->cloud, "", token, renewed, &ignored)
        && strcmp(renewed, token) != 0) {
        cloud_reply_finish(out);
        done = send_with(exchange, renewed, out, error);
    }
    explicit_bzero(token, sizeof token);
    explicit_bzero(renewed, sizeof renewed);
    return done;
}

static CHECKED bool ask_machine(const struct cloud *cloud, const char *method, const char *url,
                                const json_t *body, struct cloud_reply *out, struct error *error)
{
    bool done;

    if (cloud->machine == NULL)
        done = error_set(error, ERROR_FORBIDDEN,
                         "deployments on this machine are switched off: an admin can switch them "
                         "on with the setting this_machine");
    else if (url[0] != '/')
        done = error_set(
            error, ERROR_FORBIDDEN,
            "without a credential, only this machine can be called: give the target a credential");
    else
        done = cloud->machine->answer(cloud->machine->context, method, url, body, out, error);
    if (!done)
        text_copy(out->message, sizeof out->message, error->message);
    return done;
}

bool cloud_call(struct cloud *cloud, const char *method, const char *url, const char *content_type,
                const json_t *body, struct cloud_reply *out, struct error *error)
{
    struct exchange exchange = { .cloud = cloud,
                                 .method = method,
                                 .content_type = content_type,
                                 .is_read = strcmp(method, "GET") == 0 };
    bool done;

    *out = (struct cloud_reply){ .verdict = CLOUD_REFUSED };
    if (cloud->credential.kind == CLOUD_NONE)
        return ask_machine(cloud, method, url, body, out, error);
    if (content_type != NULL && content_type[0] == '\0')
        exchange.content_type = NULL;
    if (!resolve(&exchange, url, error)) {
        text_copy(out->message, sizeof out->message, error->message);
        return false;
    }
    exchange.body = body != NULL ? json_write(body) : NULL;
    done = perform(&exchange, out, error);
    free(exchange.body);
    return done;
}

void cloud_reply_finish(struct cloud_reply *reply)
{
    json_decref(reply->body);
    free(reply->text);
    *reply = (struct cloud_reply){ .verdict = CLOUD_REFUSED };
}

/* ---- Reading, with retries ---- */

/* Waits for `wait_s` seconds plus a random time of up to half of that, so that callers do not all
 * retry at once. Returns false if the process is stopping. */
static bool wait_for(const struct cloud *cloud, int64_t wait_s)
{
    uint32_t random;
    int64_t ends_ns;

    random_bytes(&random, sizeof random);
    ends_ns = clock_monotonic_ns() + wait_s * 1000000000 + (random % 500) * wait_s * 1000000;
    while (clock_monotonic_ns() < ends_ns) {
        if (cloud->stopping != NULL && cloud->stopping(cloud->context))
            return false;
        nanosleep(&(struct timespec){ .tv_nsec = 50000000 }, NULL);
    }
    return true;
}

bool cloud_read(struct cloud *cloud, const char *url, struct cloud_reply *out, struct error *error)
{
    for (int tries = 1;; tries++) {
        int64_t wait_s;

        if (cloud_call(cloud, "GET", url, NULL, NULL, out, error))
            return true;
        wait_s = out->retry_after_s;
        if (out->verdict != CLOUD_AGAIN || tries == READS_MAX || wait_s > READ_WAIT_S
            || !wait_for(cloud, wait_s))
            return false;
        cloud_reply_finish(out);
    }
}
