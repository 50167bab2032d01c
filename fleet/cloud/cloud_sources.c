/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the files of each kind of credential, and fetches its tokens. */
#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/memory.h"
#include "base/json/json.h"
#include "base/net/mask.h"
#include "base/net/outbound.h"
#include "base/net/url.h"
#include "fleet/cloud/cloud_endpoints.h"
#include "fleet/cloud/cloud_jwt.h"
#include "fleet/cloud/cloud_problem.h"
#include "fleet/cloud/cloud_tokens.h"

#define SCOPE "https://www.googleapis.com/auth/cloud-platform"
#define GOOGLE_TOKEN_URL "https://oauth2.googleapis.com/token"
#define ASSERTION_LIFE_S 3600
#define TOKEN_ANSWER_BYTES 65536
#define METADATA_MS 3000
#define TOKEN_MS 15000
#define REREAD_MS 60000 /* time between two reads of a pod's token, which Kubernetes rotates */

/* ---- Answers with tokens ---- */

static CHECKED bool set_value(const char *value, size_t length, const char *from,
                              struct cloud_token *out, struct error *error)
{
    while (length > 0 && isspace((unsigned char)value[length - 1]))
        length--;
    for (size_t i = 0; i < length; i++)
        if (value[i] <= ' ' || value[i] >= 0x7f)
            length = 0;
    if (length == 0 || length >= sizeof out->value)
        return error_set(error, ERROR_UPSTREAM, "%s gave no usable token", from);
    memcpy(out->value, value, length);
    out->value[length] = '\0';
    return true;
}

/* Reads {"access_token": ..., "expires_in": ...} or {"id_token": ...}. */
static CHECKED bool read_token(const struct cloud *cloud, const char *member,
                               const struct outbound_response *response, const char *from,
                               struct cloud_token *out, struct error *error)
{
    json_auto_t *body = NULL;
    struct error ignored;
    const char *value;
    int64_t life_s;

    if (!json_parse(text_string(&response->body), response->body.length, &body, &ignored))
        return error_set(error, ERROR_UPSTREAM, "%s gave no usable token", from);
    value = json_get_text(body, member, "");
    life_s = json_get_integer(body, "expires_in", 3600);
    out->ends_ms = cloud->now_ms() + (life_s > 0 && life_s < 86400 ? life_s : 0) * 1000;
    return set_value(value, strlen(value), from, out, error);
}

static void set_end_from_jwt(const struct cloud *cloud, struct cloud_token *out)
{
    int64_t ends_ms = cloud_jwt_ends_ms(out->value);

    out->ends_ms = ends_ms > 0 ? ends_ms : cloud->now_ms() + 60000;
}

static void add_encoded(struct text *out, const char *text)
{
    for (; *text != '\0'; text++)
        if (isalnum((unsigned char)*text) || strchr("-._~", *text) != NULL)
            text_add_char(out, *text);
        else
            text_addf(out, "%%%02X", (unsigned char)*text);
}

/* ---- Google's metadata server ---- */

static CHECKED bool ask_metadata(struct cloud *cloud, const char *path,
                                 struct outbound_response *response, struct error *error)
{
    static const char *const headers[] = { "Metadata-Flavor: Google", NULL };
    TEXT_AUTO url = { 0 };
    struct outbound_request request = {
        .headers = headers,
        .accept = "*/*",
        .kept_header = "metadata-flavor",
        .to_metadata = !cloud_endpoints_is_replaced(cloud->endpoints, "metadata"),
        .connect_timeout_ms = METADATA_MS,
        .total_timeout_ms = TOKEN_MS,
        .response_limit_bytes = TOKEN_ANSWER_BYTES,
        .cancelled = cloud->stopping,
        .context = cloud->context,
    };
    struct error problem;
    bool done;

    text_addf(&url, "%s/computeMetadata/v1/instance/service-accounts/default/%s",
              cloud_endpoints_base(cloud->endpoints, "metadata"), path);
    request.url = text_string(&url);
    done = outbound_perform(&request, response, &problem);
    if (response->status == 404)
        return error_set(error, ERROR_FORBIDDEN,
                         "this machine has no service account: attach one, or use a "
                         "service-account file");
    if (!done)
        return error_set(
            error, problem.kind,
            "Google's metadata server gave no token (is this machine in Google Cloud?): %s",
            problem.message);
    if (strcmp(response->kept_header, "Google") != 0)
        return error_set(error, ERROR_FORBIDDEN,
                         "the server at the metadata server's address is not Google's (its answer "
                         "has no header Metadata-Flavor: Google)");
    return true;
}

static CHECKED bool fetch_from_metadata(struct cloud *cloud, const char *audience,
                                        struct cloud_token *out, struct error *error)
{
    static const char from[] = "Google's metadata server";
    struct outbound_response response;
    TEXT_AUTO path = { 0 };
    bool done;

    if (audience[0] == '\0')
        text_add(&path, "token");
    else {
        text_add(&path, "identity?format=full&audience=");
        add_encoded(&path, audience);
    }
    done = ask_metadata(cloud, text_string(&path), &response, error);
    if (done && audience[0] == '\0')
        done = read_token(cloud, "access_token", &response, from, out, error);
    else if (done) {
        done = set_value(text_string(&response.body), response.body.length, from, out, error);
        set_end_from_jwt(cloud, out);
    }
    if (response.body.data != NULL)
        explicit_bzero(response.body.data, response.body.length);
    outbound_response_finish(&response);
    return done;
}

/* ---- A service account's file ---- */

/* Sets the token endpoint. If the base URL of the service "token" was replaced, the endpoint is
 * /token at the replacement. Otherwise it is the file's token_uri, which must be https, or, if the
 * file has none, Google's endpoint. */
static CHECKED bool read_token_url(struct cloud *cloud, const char *given, struct error *error)
{
    struct cloud_account *account = &cloud->account;
    char origin[ORIGIN_SIZE];
    struct error ignored;

    if (given[0] == '\0' || strcmp(given, GOOGLE_TOKEN_URL) == 0
        || cloud_endpoints_is_replaced(cloud->endpoints, "token")) {
        snprintf(account->token_url, sizeof account->token_url, "%s/token",
                 cloud_endpoints_base(cloud->endpoints, "token"));
        return true;
    }
    if (strncmp(given, "https://", 8) != 0 || !url_origin(given, origin, &ignored)
        || text_copy(account->token_url, sizeof account->token_url, given) != strlen(given))
        return error_set(error, ERROR_INVALID, "its token_uri is not a usable https URL");
    return true;
}

static CHECKED bool read_account(struct cloud *cloud, const json_t *file, struct error *error)
{
    struct cloud_account *account = &cloud->account;
    const char *type = json_get_text(file, "type", "");
    const char *email = json_get_text(file, "client_email", "");

    if (strcmp(type, "service_account") != 0)
        return error_set(error, ERROR_INVALID,
                         "its type is not service_account: user credentials and workload identity "
                         "federation are not supported");
    if (text_copy(account->email, sizeof account->email, email) != strlen(email)
        || strchr(email, '@') == NULL)
        return error_set(error, ERROR_INVALID, "its client_email is not an e-mail address");
    text_copy(account->key_id, sizeof account->key_id, json_get_text(file, "private_key_id", ""));
    account->key = memory_copy_text(json_get_text(file, "private_key", ""));
    return read_token_url(cloud, json_get_text(file, "token_uri", ""), error);
}

/* Calls `read` with the bytes of the credential's file; the error names the file. */
static CHECKED bool read_file(struct cloud *cloud,
                              CHECKED bool (*read)(struct cloud *cloud, const char *bytes,
                                                   size_t length, struct error *error),
                              struct error *error)
{
    const char *file = cloud->credential.file;
    struct error problem;
    char *bytes = NULL;
    size_t length = 0;
    bool done;

    if (!secret_file_read(cloud->secrets_folder, file, &bytes, &length, error))
        return false;
    done = read(cloud, bytes, length, &problem)
           || error_set(error, problem.kind, "the credential %s cannot be used: %s", file,
                        problem.message);
    secret_file_free(bytes, length);
    return done;
}

/* Signs once, so that an unusable key is reported now rather than at the first call. */
static CHECKED bool parse_account(struct cloud *cloud, const char *bytes, size_t length,
                                  struct error *error)
{
    json_auto_t *file = NULL;
    TEXT_AUTO trial = { 0 };
    struct error ignored; /* its message could repeat part of the file */

    if (!json_parse(bytes, length, &file, &ignored))
        return error_set(error, ERROR_INVALID, "it is not valid JSON");
    return read_account(cloud, file, error)
           && cloud_jwt_sign(cloud->account.key, "", json_null(), &trial, error);
}

static CHECKED bool read_account_file(struct cloud *cloud, struct error *error)
{
    return read_file(cloud, parse_account, error);
}

/* Appends the account's signed request for a token. */
static CHECKED bool add_assertion(struct cloud *cloud, const char *audience, struct text *out,
                                  struct error *error)
{
    struct cloud_account *account = &cloud->account;
    json_int_t now_s = cloud->now_ms() / 1000;
    const char *endpoint = strcmp(account->token_url, GOOGLE_TOKEN_URL) == 0
                                   || cloud_endpoints_is_replaced(cloud->endpoints, "token")
                               ? GOOGLE_TOKEN_URL
                               : account->token_url;
    json_auto_t *claims = json_pack("{s:s, s:s, s:s, s:I, s:I}", "iss", account->email,
                                    audience[0] != '\0' ? "target_audience" : "scope",
                                    audience[0] != '\0' ? audience : SCOPE, "aud", endpoint, "iat",
                                    now_s, "exp", now_s + ASSERTION_LIFE_S);

    return cloud_jwt_sign(account->key, account->key_id, claims, out, error);
}

static CHECKED bool exchange(struct cloud *cloud, const char *assertion,
                             struct outbound_response *response, struct error *error)
{
    TEXT_AUTO body = { 0 };
    struct outbound_request request = {
        .method = "POST",
        .url = cloud->account.token_url,
        .content_type = "application/x-www-form-urlencoded",
        .proxy = cloud->proxy,
        .total_timeout_ms = TOKEN_MS,
        .response_limit_bytes = TOKEN_ANSWER_BYTES,
        .cancelled = cloud->stopping,
        .context = cloud->context,
    };
    MASK_AUTO mask = mask_create(assertion);
    struct cloud_problem problem;
    json_auto_t *refusal = NULL;
    struct error ignored;
    bool done;

    text_addf(&body,
              "grant_type=urn%%3Aietf%%3Aparams%%3Aoauth%%3Agrant-type%%3Ajwt-bearer"
              "&assertion=%s",
              assertion);
    request.body = body.data;
    request.body_length = body.length;
    done = outbound_perform(&request, response, error);
    explicit_bzero(body.data, body.length);
    if (!done && response->status >= 400 && response->status < 500 && response->status != 429
        && json_parse(text_string(&response->body), response->body.length, &refusal, &ignored)) {
        cloud_problem_read(response->status, refusal, &problem);
        error_set(error, ERROR_FORBIDDEN, "no token for %s: %s", cloud->account.email,
                  problem.message);
    }
    if (!done)
        mask_error(mask, error);
    return done;
}

static CHECKED bool fetch_by_account(struct cloud *cloud, const char *audience,
                                     struct cloud_token *out, struct error *error)
{
    static const char from[] = "the token endpoint";
    struct outbound_response response = { 0 };
    TEXT_AUTO assertion = { 0 };
    bool done = add_assertion(cloud, audience, &assertion, error)
                && exchange(cloud, assertion.data, &response, error);

    if (done && audience[0] == '\0')
        done = read_token(cloud, "access_token", &response, from, out, error);
    else if (done) {
        done = read_token(cloud, "id_token", &response, from, out, error);
        set_end_from_jwt(cloud, out);
    }
    if (assertion.data != NULL)
        explicit_bzero(assertion.data, assertion.length);
    if (response.body.data != NULL)
        explicit_bzero(response.body.data, response.body.length);
    outbound_response_finish(&response);
    return done;
}

/* ---- Kubernetes ---- */

static CHECKED bool check_no_audience(const char *audience, struct error *error)
{
    return audience[0] == '\0'
           || error_set(error, ERROR_UNSUPPORTED,
                        "a Kubernetes credential cannot be exchanged for a Google ID token");
}

static CHECKED bool parse_kubeconfig(struct cloud *cloud, const char *bytes, size_t length,
                                     struct error *error)
{
    return cloud_kubeconfig_parse(bytes, length, &cloud->kubeconfig, error);
}

static CHECKED bool read_kubeconfig(struct cloud *cloud, struct error *error)
{
    return read_file(cloud, parse_kubeconfig, error);
}

static CHECKED bool fetch_from_kubeconfig(struct cloud *cloud, const char *audience,
                                          struct cloud_token *out, struct error *error)
{
    const char *token = cloud->kubeconfig.token;

    out->ends_ms = INT64_MAX;
    return check_no_audience(audience, error)
           && (token[0] == '\0' || set_value(token, strlen(token), "the kubeconfig", out, error));
}

static CHECKED bool read_mounted(struct cloud *cloud, const char *name, char **out,
                                 struct error *error)
{
    size_t length;

    if (secret_file_read(cloud->account_folder, name, out, &length, error))
        return true;
    return error_set(error, ERROR_FORBIDDEN, "this is not a pod with a service account: %s",
                     error->message);
}

static CHECKED bool read_pod(struct cloud *cloud, struct error *error)
{
    struct cloud_kubeconfig *config = &cloud->kubeconfig;
    const char *host = secure_getenv("KUBERNETES_SERVICE_HOST");
    const char *port = secure_getenv("KUBERNETES_SERVICE_PORT_HTTPS");
    FREE_AUTO char *namespace = NULL;

    config->certificate = memory_copy_text("");
    config->key = memory_copy_text("");
    if (host == NULL)
        return error_set(
            error, ERROR_FORBIDDEN,
            "this is not a pod (KUBERNETES_SERVICE_HOST is not set): use a kubeconfig");
    snprintf(config->server, sizeof config->server,
             strchr(host, ':') ? "https://[%s]:%s" : "https://%s:%s", host,
             port != NULL ? port : "443");
    if (!read_mounted(cloud, "ca.crt", &config->authorities, error)
        || !read_mounted(cloud, "namespace", &namespace, error))
        return false;
    namespace[strcspn(namespace, " \n")] = '\0';
    text_copy(config->namespace, sizeof config->namespace, namespace);
    return true;
}

static CHECKED bool fetch_from_pod(struct cloud *cloud, const char *audience,
                                   struct cloud_token *out, struct error *error)
{
    char *token = NULL;
    bool done;

    if (!check_no_audience(audience, error) || !read_mounted(cloud, "token", &token, error))
        return false;
    done = set_value(token, strlen(token), "the pod's token file", out, error);
    /* cloud_tokens.c fetches the token again after half of this time */
    out->ends_ms = cloud->now_ms() + 2 * (int64_t)REREAD_MS;
    secret_file_free(token, strlen(token));
    return done;
}

/* ---- The table ---- */

static CHECKED bool fetch_nothing(struct cloud *cloud, const char *audience,
                                  struct cloud_token *out, struct error *error)
{
    (void)cloud, (void)audience, (void)out;
    return error_set(error, ERROR_FORBIDDEN, "the target has no credential");
}

static const struct cloud_source sources[] = {
    [CLOUD_NONE] = { .fetch = fetch_nothing },
    [CLOUD_WORKLOAD_IDENTITY] = { .fetch = fetch_from_metadata },
    [CLOUD_SERVICE_ACCOUNT_FILE] = { .read = read_account_file, .fetch = fetch_by_account },
    [CLOUD_KUBECONFIG] = { .read = read_kubeconfig,
                           .fetch = fetch_from_kubeconfig,
                           .has_server = true },
    [CLOUD_IN_CLUSTER] = { .read = read_pod, .fetch = fetch_from_pod, .has_server = true },
};

const struct cloud_source *cloud_source_of(enum cloud_kind kind)
{
    return &sources[kind];
}
