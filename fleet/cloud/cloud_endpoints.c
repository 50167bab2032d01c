/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/cloud/cloud_endpoints.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/memory.h"
#include "base/core/text.h"
#include "base/net/url.h"

#define SHOWN_BYTES 120

static const struct service {
    const char *name, *base;
    bool is_private; /* only fleet/cloud itself calls it, never with a caller's URL */
} services[] = {
    { "artifactregistry", "https://artifactregistry.googleapis.com" },
    { "cloudquotas", "https://cloudquotas.googleapis.com" },
    { "cloudresourcemanager", "https://cloudresourcemanager.googleapis.com" },
    { "cloudscheduler", "https://cloudscheduler.googleapis.com" },
    { "compute", "https://compute.googleapis.com" },
    { "container", "https://container.googleapis.com" },
    { "iam", "https://iam.googleapis.com" },
    { "logging", "https://logging.googleapis.com" },
    { "run", "https://run.googleapis.com" },
    { "secretmanager", "https://secretmanager.googleapis.com" },
    { "serviceusage", "https://serviceusage.googleapis.com" },
    { "storage", "https://storage.googleapis.com" },
    { "tpu", "https://tpu.googleapis.com" },
    { "token", "https://oauth2.googleapis.com", true },
    { "metadata", "http://169.254.169.254", true },
};
#define SERVICES (sizeof services / sizeof services[0])

struct cloud_endpoints {
    char base[SERVICES][ORIGIN_SIZE]; /* what replaces the base URL of services[i]; "": nothing */
};

static size_t find(const char *name)
{
    size_t i = 0;

    while (i < SERVICES && strcmp(services[i].name, name) != 0)
        i++;
    return i;
}

static CHECKED bool refuse_name(const char *entry, struct error *error)
{
    TEXT_AUTO names = { 0 };
    TEXT_AUTO shown = { 0 };

    for (size_t i = 0; i < SERVICES; i++)
        text_addf(&names, "%s%s", i > 0 ? ", " : "", services[i].name);
    text_add_printable(&shown, entry, strlen(entry), SHOWN_BYTES);
    return error_set(
        error, ERROR_INVALID,
        "\"%s\" is wrong: give the URL of a cloud service as NAME=URL, where NAME is one of %s",
        text_string(&shown), text_string(&names));
}

static CHECKED bool read_entry(struct cloud_endpoints *endpoints, char *entry, struct error *error)
{
    char *url;
    size_t i;

    entry += strspn(entry, " \t");
    for (i = strlen(entry); i > 0 && strchr(" \t", entry[i - 1]) != NULL; i--)
        entry[i - 1] = '\0';
    if (entry[0] == '\0')
        return true;
    url = strchr(entry, '=');
    if (url == NULL)
        return refuse_name(entry, error);
    *url++ = '\0';
    i = find(entry);
    if (i == SERVICES)
        return refuse_name(entry, error);
    return url_origin(url, endpoints->base[i], error);
}

bool cloud_endpoints_create(const char *text, struct cloud_endpoints **out, struct error *error)
{
    struct cloud_endpoints *endpoints = memory_zeroed(1, sizeof *endpoints);
    FREE_AUTO char *copy = memory_copy_text(text);
    char *rest = copy, *entry;

    while ((entry = strsep(&rest, ",")) != NULL)
        if (!read_entry(endpoints, entry, error)) {
            free(endpoints);
            return false;
        }
    *out = endpoints;
    return true;
}

void cloud_endpoints_destroy(struct cloud_endpoints *endpoints)
{
    free(endpoints);
}

const char *cloud_endpoints_base(const struct cloud_endpoints *endpoints, const char *name)
{
    size_t i = find(name);

    return endpoints->base[i][0] != '\0' ? endpoints->base[i] : services[i].base;
}

bool cloud_endpoints_is_replaced(const struct cloud_endpoints *endpoints, const char *name)
{
    return endpoints->base[find(name)][0] != '\0';
}

bool cloud_url_check(const char *url, struct error *error)
{
    const char *path_end = url + strcspn(url, "?");

    for (const char *c = url; *c != '\0'; c++)
        if (*c <= ' ' || *c >= 0x7f || *c == '#' || *c == '\\')
            return error_set(error, ERROR_INVALID,
                             "a request's URL has a character that is not allowed");
    for (const char *dots = strstr(url, "/."); dots != NULL && dots < path_end;
         dots = strstr(dots + 1, "/."))
        if (strchr("/?", dots[2]) != NULL || (dots[2] == '.' && strchr("/?", dots[3]) != NULL))
            return error_set(error, ERROR_INVALID, "a request's URL has a \".\" or \"..\" segment");
    return true;
}

bool cloud_endpoints_resolve(const struct cloud_endpoints *endpoints, const char *url,
                             char out[CLOUD_URL_SIZE], struct error *error)
{
    TEXT_AUTO shown = { 0 };

    for (size_t i = 0; i < SERVICES; i++) {
        size_t length = strlen(services[i].base);
        const char *base = endpoints->base[i][0] != '\0' ? endpoints->base[i] : services[i].base;

        if (services[i].is_private || strncmp(url, services[i].base, length) != 0
            || url[length] != '/')
            continue;
        if ((size_t)snprintf(out, CLOUD_URL_SIZE, "%s%s", base, url + length) >= CLOUD_URL_SIZE)
            return error_set(error, ERROR_INVALID, "a request's URL is longer than %d bytes",
                             CLOUD_URL_SIZE - 1);
        return cloud_url_check(url, error);
    }
    text_add_printable(&shown, url, strcspn(url, "?"), SHOWN_BYTES);
    return error_set(error, ERROR_FORBIDDEN,
                     "%s does not belong to a known cloud service: no credential is sent there",
                     text_string(&shown));
}
