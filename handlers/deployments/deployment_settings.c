/* SPDX-License-Identifier: Apache-2.0 */
#include "handlers/deployments/deployment_settings.h"

#include <string.h>

#include "base/core/memory.h"
#include "base/json/json.h"
#include "base/net/secrets.h"
#include "handlers/answer.h"
#include "handlers/values.h"

static CHECKED bool read_url(const struct call *call, struct deployment *deployment,
                             struct error *error)
{
    const char *url = call_text(call, "url");
    char host[URL_HOST_SIZE], shown[VALUE_SHOWN_SIZE];
    struct error problem;
    size_t length;
    int port;

    if (url == NULL)
        return true;
    if (!url_check(url, host, &port, &problem)
        || !access_check_url(&call->services->access, url, &problem))
        return error_set(error, problem.kind, "\"url\" is %s: %s", value_show_url(url, shown),
                         problem.message);
    length = text_copy(deployment->url, sizeof deployment->url, url);
    while (length > 0 && deployment->url[length - 1] == '/')
        length--;
    if (length > 3 && strncmp(deployment->url + length - 3, "/v1", 3) == 0)
        length -= 3;
    while (length > 0 && deployment->url[length - 1] == '/')
        length--;
    deployment->url[length] = '\0';
    return true;
}

/* The error message does not show the argument, because it might be the secret itself. */
static CHECKED bool read_secret(const struct call *call, struct deployment *deployment,
                                struct error *error)
{
    const char *name = call_text(call, "secret");

    if (name == NULL)
        return true;
    if (name[0] != '\0' && !secret_name_check(name, error))
        return error_set(error, ERROR_INVALID,
                         "\"secret\" is not the name of a secret (1 to 63 characters: A-Z, "
                         "0-9 and _, beginning with a letter); the value itself is set on the "
                         "server, as OPSBRAIN_SECRET_<NAME> or in the secrets folder, and never "
                         "given here");
    text_copy(deployment->secret, sizeof deployment->secret, name);
    return true;
}

static CHECKED bool read_text(const struct call *call, const char *name, char *out, size_t size,
                              struct error *error)
{
    const char *value = call_text(call, name);

    if (value == NULL)
        return true;
    for (const unsigned char *c = (const unsigned char *)value; *c != '\0'; c++)
        if (*c < 0x20 || *c == 0x7f)
            return error_set(error, ERROR_INVALID,
                             "\"%s\" contains a control character: give one line of plain text",
                             name);
    text_copy(out, size, value);
    return true;
}

static CHECKED bool write_json(const json_t *value, const char *name, char *out, size_t size,
                               struct error *error)
{
    FREE_AUTO char *written = json_write_canonical(value);

    if (strlen(written) >= size)
        return error_set(error, ERROR_INVALID, "\"%s\" is too long: at most %zu bytes as JSON",
                         name, size - 1);
    text_copy(out, size, written);
    return true;
}

static CHECKED bool read_labels(const struct call *call, struct deployment *deployment,
                                struct error *error)
{
    const json_t *labels = json_object_get(call->arguments, "labels");
    json_auto_t *printable = json_object();
    const char *key;
    json_t *value;

    if (labels == NULL)
        return true;
    json_object_foreach(json_iterable(labels), key, value)
        json_object_set_new(
            printable, key,
            answer_json_foreign(json_string_value(value), json_string_length(value), SIZE_MAX));
    return write_json(printable, "labels", deployment->labels, sizeof deployment->labels, error);
}

static CHECKED bool read_limits(const struct call *call, struct deployment *deployment,
                                struct error *error)
{
    static const char *const names[] = { "max_instances", "container_concurrency", "max_running" };
    json_auto_t *limits = answer_json_stored(deployment->limits);

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        int64_t value = call_integer(call, names[i], -1);

        if (value == 0)
            json_object_del(limits, names[i]);
        else if (value > 0)
            json_object_set_new(limits, names[i], json_integer(value));
    }
    return write_json(limits, "limits", deployment->limits, sizeof deployment->limits, error);
}

bool deployment_settings_read(const struct call *call, struct deployment *deployment,
                              struct error *error)
{
    deployment->chips = call_integer(call, "chips", deployment->chips);
    return read_url(call, deployment, error)
           && read_text(call, "model", deployment->model, sizeof deployment->model, error)
           && read_text(call, "model_revision", deployment->model_revision,
                        sizeof deployment->model_revision, error)
           && read_text(call, "quantization", deployment->quantization,
                        sizeof deployment->quantization, error)
           && read_text(call, "engine", deployment->engine, sizeof deployment->engine, error)
           && read_text(call, "hardware", deployment->hardware, sizeof deployment->hardware, error)
           && read_text(call, "region", deployment->region, sizeof deployment->region, error)
           && read_secret(call, deployment, error) && read_labels(call, deployment, error)
           && read_limits(call, deployment, error);
}

bool deployment_settings_same(const struct deployment *a, const struct deployment *b)
{
    return strcmp(a->url, b->url) == 0 && strcmp(a->model, b->model) == 0
           && strcmp(a->model_revision, b->model_revision) == 0
           && strcmp(a->quantization, b->quantization) == 0 && a->chips == b->chips
           && strcmp(a->engine, b->engine) == 0 && strcmp(a->hardware, b->hardware) == 0
           && strcmp(a->region, b->region) == 0 && strcmp(a->secret, b->secret) == 0
           && strcmp(a->labels, b->labels) == 0 && strcmp(a->limits, b->limits) == 0;
}
