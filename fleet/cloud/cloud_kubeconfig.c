/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/cloud/cloud_kubeconfig.h"

#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/memory.h"
#include "base/formats/yaml.h"
#include "base/json/json.h"
#include "base/net/url.h"

#define FLATTEN                                                                                    \
    "\"kubectl config view --raw --minify --flatten\" writes a kubeconfig that can be used"

/* Finds the row with this name in a list of rows like {"name": ..., "cluster": {...}}, and returns
 * its member `what`. */
static const json_t *find_row(const json_t *config, const char *list, const char *name,
                              const char *what)
{
    const json_t *row;
    size_t i;

    json_array_foreach(json_object_get(config, list), i, row)
        if (strcmp(json_get_text(row, "name", ""), name) == 0)
            return json_object_get(row, what);
    return NULL;
}

/* Members for which a kubeconfig is refused, because they need a command or another file, are not
 * safe, or are not supported. */
static const struct refusal {
    const char *member, *why;
} cluster_refusals[] = {
    { "insecure-skip-tls-verify",
      "it does not verify the server: give certificate-authority-data instead" },
    { "certificate-authority",
      "it names a file (certificate-authority), and only the kubeconfig itself is read: " FLATTEN },
    { "proxy-url", "it names a proxy: set the target's \"proxy\" instead" },
    { "tls-server-name",
      "its tls-server-name is not supported: put that name into the server's URL" },
    { NULL },
}, user_refusals[] = {
    { "exec", "its user needs a command that prints a credential (exec), and no command is run: "
              "use a service account's token or a client certificate" },
    { "auth-provider", "its user has an auth-provider, which is not supported: use a service "
                       "account's token or a client certificate" },
    { "tokenFile", "it names a file (tokenFile), and only the kubeconfig itself is read: write the "
                   "token itself into the kubeconfig, as its user's \"token\"" },
    { "client-certificate",
      "it names a file (client-certificate), and only the kubeconfig itself is read: " FLATTEN },
    { "client-key",
      "it names a file (client-key), and only the kubeconfig itself is read: " FLATTEN },
    { "username", "its user has a password, which Kubernetes no longer accepts: use a service "
                  "account's token or a client certificate" },
    { "as", "its user impersonates another user (as), which is not supported" },
    { NULL },
};

static CHECKED bool check_refusals(const json_t *object, const struct refusal *refusals,
                                   struct error *error)
{
    for (const struct refusal *row = refusals; row->member != NULL; row++)
        if (!json_is_blank(json_object_get(object, row->member)))
            return error_set(error, ERROR_INVALID, "%s", row->why);
    return true;
}

/* Decodes a member that is PEM in base64. Leaves *out unchanged if there is no such member. */
static CHECKED bool read_pem(const json_t *object, const char *member, char **out,
                             struct error *error)
{
    const char *text = json_get_text(object, member, "");
    size_t length = strlen(text);
    char *pem;
    int decoded;

    if (length == 0)
        return true;
    pem = memory_zeroed(length + 1, 1);
    decoded = length % 4 == 0
                  ? EVP_DecodeBlock((unsigned char *)pem, (const unsigned char *)text, (int)length)
                  : -1;
    if (decoded > 0 && strncmp(pem, "-----BEGIN ", 11) == 0) {
        free(*out);
        *out = pem;
        return true;
    }
    free(pem);
    return error_set(error, ERROR_INVALID, "its %s is not PEM in base64: " FLATTEN, member);
}

static CHECKED bool read_server(const char *url, struct cloud_kubeconfig *out, struct error *error)
{
    char host[URL_HOST_SIZE];
    size_t length = text_copy(out->server, sizeof out->server, url);
    struct error problem;
    int port;

    if (!url_check(url, host, &port, &problem))
        return error_set(error, ERROR_INVALID, "its server: %s", problem.message);
    if (strncmp(url, "https:", 6) != 0 && !url_host_is_loopback(host))
        return error_set(
            error, ERROR_INVALID,
            "its server's URL is not https: the credential would be sent in clear text");
    while (length > 0 && out->server[length - 1] == '/')
        out->server[--length] = '\0';
    return true;
}

static CHECKED bool read_cluster(const json_t *cluster, struct cloud_kubeconfig *out,
                                 struct error *error)
{
    return check_refusals(cluster, cluster_refusals, error)
           && read_server(json_get_text(cluster, "server", ""), out, error)
           && read_pem(cluster, "certificate-authority-data", &out->authorities, error);
}

static CHECKED bool read_user(const json_t *user, struct cloud_kubeconfig *out, struct error *error)
{
    const char *token = json_get_text(user, "token", "");

    if (!check_refusals(user, user_refusals, error)
        || !read_pem(user, "client-certificate-data", &out->certificate, error)
        || !read_pem(user, "client-key-data", &out->key, error))
        return false;
    if ((out->certificate[0] == '\0') != (out->key[0] == '\0'))
        return error_set(
            error, ERROR_INVALID,
            "its user needs both client-certificate-data and client-key-data, or neither");
    if (strlen(token) >= sizeof out->token)
        return error_set(error, ERROR_INVALID, "its token is longer than %zu bytes",
                         sizeof out->token - 1);
    if (token[0] == '\0' && out->key[0] == '\0')
        return error_set(error, ERROR_INVALID,
                         "its user has neither a token nor a client certificate");
    text_copy(out->token, sizeof out->token, token);
    return true;
}

static CHECKED bool read_config(const json_t *config, struct cloud_kubeconfig *out,
                                struct error *error)
{
    const char *context_name = json_get_text(config, "current-context", "");
    const json_t *context = find_row(config, "contexts", context_name, "context");
    const char *cluster_name = json_get_text(context, "cluster", "");
    const char *user_name = json_get_text(context, "user", "");
    const json_t *cluster = find_row(config, "clusters", cluster_name, "cluster");
    const json_t *user = find_row(config, "users", user_name, "user");

    if (context == NULL)
        return error_set(error, ERROR_INVALID,
                         "its current-context is missing or not one of its contexts: " FLATTEN);
    if (cluster == NULL || user == NULL)
        return error_set(error, ERROR_INVALID, "it lacks the %s of its current context: " FLATTEN,
                         cluster == NULL ? "cluster" : "user");
    text_copy(out->namespace, sizeof out->namespace, json_get_text(context, "namespace", ""));
    text_copy(out->user, sizeof out->user, user_name);
    return read_cluster(cluster, out, error) && read_user(user, out, error);
}

bool cloud_kubeconfig_parse(const char *bytes, size_t length, struct cloud_kubeconfig *out,
                            struct error *error)
{
    json_auto_t *config = NULL;

    *out = (struct cloud_kubeconfig){ .authorities = memory_copy_text(""),
                                      .certificate = memory_copy_text(""),
                                      .key = memory_copy_text("") };
    return yaml_parse(bytes, length, &config, error) && read_config(config, out, error);
}

void cloud_kubeconfig_finish(struct cloud_kubeconfig *kubeconfig)
{
    secret_file_free(kubeconfig->key, kubeconfig->key != NULL ? strlen(kubeconfig->key) : 0);
    free(kubeconfig->authorities);
    free(kubeconfig->certificate);
    explicit_bzero(kubeconfig, sizeof *kubeconfig);
}
