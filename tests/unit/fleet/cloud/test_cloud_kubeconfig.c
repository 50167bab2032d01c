/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "fleet/cloud/cloud_kubeconfig.h"

#define PEM "LS0tLS1CRUdJTiBYLS0tLS0K" /* -----BEGIN X----- */

/* Returns a kubeconfig whose cluster and user have these members. */
static const char *config_with(const char *cluster, const char *user)
{
    static char text[2048];

    snprintf(text, sizeof text,
             "clusters: [{name: c, cluster: {%s}}]\n"
             "users: [{name: u, user: {%s}}]\n"
             "contexts: [{name: x, context: {cluster: c, user: u, namespace: llm}}]\n"
             "current-context: x\n",
             cluster, user);
    return text;
}

static void check_refuses(const char *text, const char *part)
{
    struct cloud_kubeconfig config;
    struct error error = { 0 };

    assert_false(cloud_kubeconfig_parse(text, strlen(text), &config, &error));
    cloud_kubeconfig_finish(&config);
    if (strstr(error.message, part) == NULL)
        fail_msg("got the error \"%s\", expected it to contain \"%s\"", error.message, part);
    assert_null(strstr(error.message, "CANARY"));
}

static void test_the_current_context_is_read(void **state)
{
    const char *text =
        config_with("server: \"https://10.0.0.1:6443/\", certificate-authority-data: " PEM,
                    "token: abc, client-certificate-data: " PEM ", client-key-data: " PEM);
    struct cloud_kubeconfig config;
    struct error error = { 0 };

    (void)state;
    assert_true(cloud_kubeconfig_parse(text, strlen(text), &config, &error));
    assert_string_equal(config.server, "https://10.0.0.1:6443");
    assert_string_equal(config.namespace, "llm");
    assert_string_equal(config.user, "u");
    assert_string_equal(config.token, "abc");
    assert_string_equal(config.authorities, "-----BEGIN X-----\n");
    assert_string_equal(config.key, "-----BEGIN X-----\n");
    cloud_kubeconfig_finish(&config);
}

static void test_unsafe_or_unsupported_members_are_refused(void **state)
{
    static const char server[] = "server: \"https://a\"";

    (void)state;
    check_refuses(config_with(server, "exec: {command: CANARY}"), "no command is run");
    check_refuses(config_with(server, "auth-provider: {name: gcp}"), "auth-provider");
    check_refuses(config_with(server, "tokenFile: /etc/CANARY"), "tokenFile");
    check_refuses(config_with(server, "client-key: /k, client-certificate: /c"), "--flatten");
    check_refuses(config_with(server, "username: a, password: CANARY"), "password");
    check_refuses(config_with(server, "token: CANARY, as: admin"), "(as)");
    check_refuses(config_with("server: \"https://a\", insecure-skip-tls-verify: true", "token: t"),
                  "not verify");
    check_refuses(config_with("server: \"https://a\", certificate-authority: /ca", "token: t"),
                  "--flatten");
    check_refuses(config_with("server: \"https://a\", proxy-url: \"http://p\"", "token: t"),
                  "proxy");
}

static void test_incomplete_or_invalid_kubeconfigs_are_refused(void **state)
{
    (void)state;
    check_refuses("current-context: x\n", "current-context");
    check_refuses("contexts: [{name: x, context: {cluster: c, user: u}}]\ncurrent-context: x\n",
                  "lacks the cluster");
    check_refuses(config_with("server: \"https://a\"", "token: "), "neither a token");
    check_refuses(config_with("server: \"https://a\"", "client-key-data: " PEM), "or neither");
    check_refuses(config_with("server: \"https://a\"",
                              "client-key-data: Q0FOQVJZ, client-certificate-data: " PEM),
                  "client-key-data is not PEM");
    check_refuses(config_with("server: \"http://10.0.0.1\"", "token: CANARY"), "in clear");
    check_refuses(config_with("server: \"http://127.example.com\"", "token: CANARY"), "in clear");
    check_refuses(config_with("server: \"https://169.254.169.254\"", "token: CANARY"), "server");
    check_refuses(config_with("server: \"ftp://a\"", "token: CANARY"), "server");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_current_context_is_read),
        cmocka_unit_test(test_unsafe_or_unsupported_members_are_refused),
        cmocka_unit_test(test_incomplete_or_invalid_kubeconfigs_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
