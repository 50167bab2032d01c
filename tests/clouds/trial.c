/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/clouds/trial.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json/json.h"

#define FOREIGN 50

const struct trial *trial_find(const char *provider)
{
    const struct trial *trial = trial_all();

    while (trial->recipe != NULL && strcmp(trial->target.provider, provider) != 0)
        trial++;
    return trial->recipe != NULL ? trial : NULL;
}

/* ---- Earlier resources ---- */

static char *numbered(const char *template, int number)
{
    TEXT_AUTO out = { 0 };

    for (; *template != '\0'; template ++)
        if (*template == '#')
            text_addf(&out, "%d", number);
        else
            text_add_char(&out, *template);
    return text_take(&out);
}

static json_t *read_world(const struct trial *trial)
{
    char path[256];
    json_t *world;
    json_error_t error;

    snprintf(path, sizeof path, SOURCE_DIR "/tests/data/clouds/%s", trial->world);
    world = json_load_file(path, 0, &error);
    if (world == NULL) {
        fprintf(stderr, "%s:%d: %s\n", path, error.line, error.text);
        abort();
    }
    return world;
}

static void add_foreign(const json_t *templates, json_t *out)
{
    int number = 0;

    while (number < FOREIGN) {
        const char *path;
        const json_t *object;

        json_object_foreach(json_iterable(templates), path, object) {
            char *plain = json_dumps(object, 0), *text = numbered(plain, number),
                 *at = numbered(path, number);

            number++;
            json_object_set_new(out, at, json_loads(text, 0, NULL));
            free(plain);
            free(text);
            free(at);
        }
    }
}

static json_t *make_before(const struct trial *trial)
{
    json_auto_t *world = read_world(trial);
    json_t *out = json_object();

    json_object_update(out, json_object_get(world, "needed"));
    add_foreign(json_object_get(world, "foreign"), out);
    return out;
}

void trial_site_reset(struct trial_site *site)
{
    json_auto_t *copy = json_deep_copy(site->before);

    fake_server_hold(site->server);
    json_object_clear(site->objects);
    json_object_update(site->objects, copy);
    fake_server_release(site->server);
    fake_faults_set(&site->faults, NULL, 0);
    fake_faults_kill(&site->faults, 0, 0);
}

/* ---- New and changed resources ---- */

json_t *trial_site_made(struct trial_site *site)
{
    json_t *out = json_array(), *object;
    const char *path;

    fake_server_hold(site->server);
    json_object_foreach(site->objects, path, object)
        if (json_object_get(site->before, path) == NULL)
            json_array_append_new(out, json_string(path));
    fake_server_release(site->server);
    return out;
}

/* Ignores a "status" member that the object did not have before, because the fakes add it. */
static bool is_same(const json_t *now, const json_t *before)
{
    json_auto_t *copy = json_copy((json_t *)(uintptr_t)now);

    if (copy != NULL && json_object_get(before, "status") == NULL)
        json_object_del(copy, "status");
    return copy != NULL && json_equal(copy, before);
}

char *trial_site_touched(struct trial_site *site)
{
    const char *path;
    json_t *object;
    char *out = NULL;

    fake_server_hold(site->server);
    json_object_foreach(site->before, path, object)
        if (out == NULL && !is_same(json_object_get(site->objects, path), object))
            out = strdup(path);
    fake_server_release(site->server);
    return out;
}

/* ---- Start and stop ---- */

void trial_site_start(struct trial_site *site, const struct trial *trial)
{
    *site = (struct trial_site){ .trial = trial };
    trial->start(site);
    site->before = make_before(trial);
    fake_faults_start(&site->faults, site->server, site->objects);
    trial_site_reset(site);
}

void trial_site_stop(struct trial_site *site)
{
    site->trial->stop(site);
    fake_faults_finish(&site->faults);
    json_decref(site->before);
}
