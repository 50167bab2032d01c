/* SPDX-License-Identifier: Apache-2.0 */
/* opsbrain login, opsbrain logout. */

#include <stdlib.h>
#include <string.h>

#include "base/net/credential.h"
#include "base/net/url.h"
#include "client/command/client.h"
#include "client/command/client_commands.h"
#include "client/terminal/hidden_line.h"

/* Refuses a key on the command line: it would stay in the shell's history and be visible to every
 * process on the machine. */
static CHECKED bool check_words(int argc, char *const *argv, struct error *error)
{
    char url[LOGIN_URL_SIZE];

    if (argc > 2 || (argc == 2 && (argv[1][0] == '-' || credential_is_in(argv[1]))))
        return error_set(error, ERROR_INVALID,
                         "%s takes only the server's address: login asks for the key, or reads it "
                         "from standard input; if a key was on the command line, revoke it",
                         argv[0]);
    return argc < 2 || login_url(argv[1], url, error);
}

static CHECKED bool choose_server(int argc, char *const *argv, struct login *login,
                                  struct error *error)
{
    return argc < 2 ? login_read(login, error) : login_read_for(argv[1], login, error);
}

static CHECKED bool read_key(struct login *login, struct error *error)
{
    TEXT_AUTO prompt = { 0 }, key = { 0 };
    bool done;

    text_addf(&prompt, "Key for %s (empty: none): ", login->url);
    done = hidden_line_read(text_string(&prompt), &key, error);
    if (done && key.length >= LOGIN_KEY_SIZE)
        done = error_set(error, ERROR_INVALID,
                         "the input is longer than a key can be (%d bytes): enter only the key",
                         LOGIN_KEY_SIZE - 1);
    if (done)
        text_copy(login->key, sizeof login->key, text_string(&key));
    if (key.data != NULL)
        explicit_bzero(key.data, key.length);
    return done;
}

static bool leaves_machine_unencrypted(const char *url)
{
    char host[URL_HOST_SIZE];
    int port;
    struct error ignored;

    return strncmp(url, "http://", strlen("http://")) == 0
           && (!url_check(url, host, &port, &ignored) || !url_host_is_loopback(host));
}

/* Stores the key only if the server accepts it. */
static CHECKED bool sign_in(struct client *client, struct error *error)
{
    const struct login *login = &client->remote.login;
    const json_t *none;
    size_t tools;

    if (!read_key(&client->remote.login, error))
        return false;
    if (!client_find_tool(client, "", &none, error) || !login_store(login, error))
        return false;
    tools = json_array_size(client->tools);
    printf("%s answers, and offers you %zu tool%s; %s.\n", login->url, tools, tools == 1 ? "" : "s",
           login->key[0] != '\0' ? "the key is stored" : "no key is stored");
    if (login->key[0] != '\0' && leaves_machine_unencrypted(login->url))
        fprintf(stderr,
                "opsbrain: warning: the key is sent over plain HTTP: use an https address\n");
    if (getenv("OPSBRAIN_URL") != NULL || getenv("OPSBRAIN_KEY") != NULL)
        fputs("opsbrain: OPSBRAIN_URL and OPSBRAIN_KEY in the environment "
              "override what is stored\n",
              stderr);
    return true;
}

/* The key is deleted only on this machine. */
static CHECKED bool sign_out(struct client *client, struct error *error)
{
    const char *url = client->remote.login.url;
    bool found;

    if (!login_forget(url, &found, error))
        return false;
    printf("%s: %s\n", url,
           found ? "the key is deleted on this machine only; to revoke it, use opsbrain key revoke"
                 : "no key is stored");
    return true;
}

bool client_login_help(struct text *out, struct error *error)
{
    (void)error;
    text_add(out,
             "  opsbrain login [URL]\n"
             "      Asks for a server's key without showing it, or reads it from "
             "standard input, and stores the URL and the key if the server accepts the key. "
             "Commands then call that server. An empty key, if accepted, deletes the stored one.\n"
             "  opsbrain logout [URL]\n"
             "      Deletes the key that is stored for a server.\n\n");
    text_add(out, client_statuses);
    return true;
}

static int carry_out(int argc, char *const *argv,
                     CHECKED bool (*act)(struct client *client, struct error *error))
{
    struct client client;
    struct error error;
    int status = STATUS_DONE;

    if (client_asks_for_help(argc, argv))
        return client_help_show("login");
    /* an invalid default address is no error yet: argv might have another address */
    error_ignore(client_open(&client, &error));
    if (!check_words(argc, argv, &error)) {
        client_fail(&client, &error);
        status = STATUS_USAGE;
    } else if (!choose_server(argc, argv, &client.remote.login, &error) || !act(&client, &error))
        status = client_fail(&client, &error);
    client_finish(&client);
    return status;
}

int client_login(int argc, char *const *argv)
{
    return carry_out(argc, argv, sign_in);
}

int client_logout(int argc, char *const *argv)
{
    return carry_out(argc, argv, sign_out);
}
