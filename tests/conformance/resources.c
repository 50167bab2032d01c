/* SPDX-License-Identifier: Apache-2.0 */
/* A resource with text, one with bytes, one to subscribe to, and one with a URI template. */

#include "fixtures.h"

/* The template accepts every value of its variable `id`, but lists none. */
static bool list_none(const struct services *services, const char *after, size_t limit,
                      struct instance **out, size_t *count, char next[INSTANCE_VALUE_SIZE],
                      struct error *error)
{
    (void)services, (void)after, (void)limit, (void)error;
    *out = NULL;
    *count = 0;
    next[0] = '\0';
    return true;
}

static bool find_any(const struct services *services, const char *value, struct error *error)
{
    (void)services, (void)value, (void)error;
    return true;
}

static const struct resource_instances any_id = { .noun = "id",
                                                  .list = list_none,
                                                  .find = find_any };

static bool read_text(struct call *call, const char *value, struct text *out, struct error *error)
{
    (void)call, (void)value, (void)error;
    text_add(out, "This is the content of the static text resource.");
    return true;
}

static bool read_bytes(struct call *call, const char *value, struct text *out, struct error *error)
{
    static const char bytes[] = { '\x89', 'P', 'N', 'G', '\r', '\n', '\x1a', '\n', '\0' };

    (void)call, (void)value, (void)error;
    text_add_bytes(out, bytes, sizeof bytes);
    return true;
}

static bool read_watched(struct call *call, const char *value, struct text *out,
                         struct error *error)
{
    (void)call, (void)value, (void)error;
    text_add(out, "This resource has subscribers.");
    return true;
}

static bool read_template(struct call *call, const char *value, struct text *out,
                          struct error *error)
{
    (void)call, (void)error;
    text_addf(out, "{\"id\":\"%s\",\"templateTest\":true,\"data\":\"Data for ID: %s\"}", value,
              value);
    return true;
}

const struct resource fixture_resources[] = {
    { .name = "static-text",
      .uri = "test://static-text",
      .title = "Text",
      .help = "Has text.",
      .mime_type = "text/plain",
      .role = ROLE_VIEWER,
      .placement = PLACE_WORKER,
      .read = read_text },
    { .name = "static-binary",
      .uri = "test://static-binary",
      .title = "Bytes",
      .help = "Has bytes.",
      .mime_type = "image/png",
      .binary = true,
      .role = ROLE_VIEWER,
      .placement = PLACE_WORKER,
      .read = read_bytes },
    { .name = "watched-resource",
      .uri = "test://watched-resource",
      .title = "Watched",
      .help = "Accepts subscriptions.",
      .mime_type = "text/plain",
      .role = ROLE_VIEWER,
      .placement = PLACE_WORKER,
      .read = read_watched },
    { .name = "template",
      .uri = "test://template/{id}/data",
      .title = "Template",
      .help = "Contains the id from its URI.",
      .mime_type = "application/json",
      .role = ROLE_VIEWER,
      .placement = PLACE_WORKER,
      .instances = &any_id,
      .read = read_template },
    { 0 },
};
