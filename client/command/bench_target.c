/* SPDX-License-Identifier: Apache-2.0 */
/* Finds or starts the opsbrain server that measures a model server, and finds or registers the
 * deployment with the model server's address. */

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/core/folders.h"
#include "base/json/json.h"
#include "base/net/url.h"
#include "client/command/client_bench.h"

/* ---- Which server ---- */

/* Finds out whether an opsbrain server that can measure the model server is already running. With
 * --data, this is left to bench_target_serve. If OPSBRAIN_URL names a server, that server must
 * answer. Otherwise, only a server on this machine is tried, because the model server's address,
 * such as http://127.0.0.1:8000, is the address as seen from this machine. */
static CHECKED bool find_running(struct bench *bench, bool *answering, struct error *error)
{
    const char *named = getenv("OPSBRAIN_URL");
    const json_t *none;

    *answering = false;
    if (bench->data != NULL)
        return true;
    if (named != NULL && named[0] != '\0')
        return *answering = client_find_tool(&bench->client, "", &none, error);
    if (!login_read_for(LOGIN_URL_USUAL, &bench->client.remote.login, error))
        return false;
    *answering = client_find_tool(&bench->client, "", &none, error);
    return true;
}

static CHECKED bool choose_folder(const struct bench *bench, struct text *out, struct error *error)
{
    const char *data_home = getenv("XDG_DATA_HOME"), *home = getenv("HOME");

    if (bench->data != NULL)
        text_add(out, bench->data);
    else if (data_home != NULL && data_home[0] == '/')
        text_addf(out, "%s/opsbrain", data_home);
    else if (home != NULL && home[0] == '/')
        text_addf(out, "%s/.local/share/opsbrain", home);
    else
        return error_set(
            error, ERROR_INVALID,
            "neither XDG_DATA_HOME nor HOME is an absolute path: name a folder with --data");
    return true;
}

static bool exists(const char *folder)
{
    struct stat status;

    return stat(folder, &status) == 0;
}

bool bench_target_serve(struct bench *bench, struct error *error)
{
    char url[LOGIN_URL_SIZE] = "";
    TEXT_AUTO folder = { 0 };

    if (!choose_folder(bench, &folder, error)
        || (exists(text_string(&folder)) && !bench->host->find(text_string(&folder), url, error)))
        return false;
    if (url[0] == '\0') {
        if (!folders_make(text_string(&folder), error)
            || !bench->host->start(text_string(&folder), &bench->server, url, error))
            return false;
        text_copy(bench->folder, sizeof bench->folder, text_string(&folder));
        fprintf(stderr,
                "Started a server for this benchmark at %s; "
                "what it measures is kept in %s\n",
                url, text_string(&folder));
    }
    return login_read_for(url, &bench->client.remote.login, error);
}

/* ---- Which deployment ---- */

/* Copies the URL in the form that deployments store: without a trailing "/", "/v1" or path of the
 * OpenAI API. */
static void trim(const char *url, char out[LOGIN_URL_SIZE])
{
    static const char *const endings[] = {
        "/", "/chat/completions", "/completions", "/models", "/v1", "/"
    };

    text_copy(out, LOGIN_URL_SIZE, url);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        size_t length = strlen(out), end = strlen(endings[i]);

        if (length > end && strcmp(out + length - end, endings[i]) == 0)
            out[length - end] = '\0';
    }
}

/* Sets bench->deployment if a deployment has this URL. If none has, adds the names of all
 * deployments to the object `names`. */
static CHECKED bool find_registered(struct bench *bench, const char *url, json_t *names,
                                    struct error *error)
{
    json_auto_t *arguments = json_pack("{s:i}", "limit", 100);
    const char *cursor = "";

    while (cursor != NULL && bench->deployment[0] == '\0') {
        json_auto_t *page = NULL;
        const json_t *row;
        size_t i;

        if (!client_call_quietly(&bench->client, "deployment_list", arguments, &page, error))
            return false;
        json_array_foreach(json_object_get(page, "deployments"), i, row) {
            json_object_set_new(names, json_get_text(row, "name", ""), json_true());
            if (strcmp(json_get_text(row, "url", ""), url) == 0)
                text_copy(bench->deployment, sizeof bench->deployment,
                          json_get_text(row, "name", ""));
        }
        cursor = json_get_text(page, "next_cursor", NULL);
        json_object_set_new(arguments, "cursor", json_string(cursor == NULL ? "" : cursor));
    }
    return true;
}

#define NAME_BASE_MAX 59 /* characters; leaves room for "-999" */

/* Makes a name such as "127.0.0.1-8000", or "127.0.0.1-8000-2" if a deployment at another address
 * already has that name. */
static void make_name(const char *url, const json_t *names, char out[64])
{
    const char *authority = strstr(url, "://");
    size_t length = 0;

    authority = authority == NULL ? url : authority + 3;
    for (; *authority != '\0' && *authority != '/' && length < NAME_BASE_MAX; authority++)
        if (isalnum((unsigned char)*authority) || *authority == '.')
            out[length++] = *authority;
        else if (length > 0 && *authority != ']')
            out[length++] = '-';
    out[length] = '\0';
    for (int number = 2; number < 1000 && json_object_get(names, out) != NULL; number++)
        snprintf(out + length, 64 - length, "-%d", number);
}

static CHECKED bool register_url(struct bench *bench, const char *url, const json_t *names,
                                 struct error *error)
{
    json_auto_t *arguments = NULL, *answer = NULL;
    char name[64];

    make_name(url, names, name);
    arguments = json_pack("{s:s, s:s}", "name", name, "url", url);
    if (!client_call_quietly(&bench->client, "deployment_register", arguments, &answer, error))
        return false;
    text_copy(bench->deployment, sizeof bench->deployment, name);
    bench->registered = true;
    return true;
}

bool bench_target_find(struct bench *bench, const char *url, struct error *error)
{
    json_auto_t *names = json_object();
    char host[URL_HOST_SIZE], trimmed[LOGIN_URL_SIZE];
    bool answering;
    int port;

    if (!url_check(url, host, &port, error) || !find_running(bench, &answering, error)
        || (!answering && !bench_target_serve(bench, error)))
        return false;
    trim(url, trimmed);
    return find_registered(bench, trimmed, names, error)
           && (bench->deployment[0] != '\0' || register_url(bench, trimmed, names, error));
}

/* ---- Whether the model server answers ---- */

/* The opsbrain server's message names the class of the failure in parentheses. */
static bool is_unreachable(const char *problem)
{
    static const char *const classes[] = { "(connect_refused)", "(connect_timeout)", "(dns)" };

    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
        if (strstr(problem, classes[i]) != NULL)
            return true;
    return false;
}

static void forget_registered(struct bench *bench)
{
    json_auto_t *arguments =
        json_pack("{s:s, s:s}", "deployment", bench->deployment, "confirm", bench->deployment);
    json_auto_t *removed = NULL;
    struct error ignored;

    if (bench->registered)
        error_ignore(client_call_quietly(&bench->client, "deployment_remove", arguments, &removed,
                                         &ignored));
}

static CHECKED bool check_one(struct bench *bench, const char *deployment, struct error *error)
{
    json_auto_t *arguments = json_pack("{s:s*}", "deployment", deployment), *shown = NULL;
    struct error why;
    bool unreachable;

    if (client_call_quietly(&bench->client, "model_show", arguments, &shown, &why))
        return true;
    unreachable = is_unreachable(why.message);
    if (unreachable)
        forget_registered(bench);
    return error_set(error, why.kind, "nothing was planned: %s%s", why.message,
                     unreachable ? "; start the model server, or correct the address" : "");
}

bool bench_target_check(struct bench *bench, const json_t *arguments, struct error *error)
{
    const char *candidate = json_get_text(arguments, "candidate", NULL);

    return check_one(bench, json_get_text(arguments, "deployment", NULL), error)
           && (candidate == NULL || check_one(bench, candidate, error));
}
