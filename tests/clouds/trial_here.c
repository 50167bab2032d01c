/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/clouds/trial_here.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fleet/machine/machine.h"
#include "fleet/machine/machine_record.h"
#include "tests/clouds/fake_podman.h"

#define IMAGE "docker.io/made/up@sha256:%064d"

/* A fake Podman, and an engine that listens while the container is running. */
struct here {
    struct fake_podman podman;
    struct fake_server *engine; /* NULL while the container is not running */
    struct machine *machine;
    char folder[64];
    int port;
};

static void answer_ready(void *context, const struct fake_request *request,
                         struct fake_reply *reply)
{
    (void)context, (void)request;
    text_add(&reply->body, "{}");
}

static void set_engine(void *context, bool runs)
{
    struct here *here = context;

    if (runs && here->engine == NULL)
        here->engine = fake_server_start_on(here->port, answer_ready, NULL);
    if (runs)
        return;
    fake_server_stop(here->engine);
    here->engine = NULL;
}

static void write_recipe(const struct trial_site *site, const struct here *here)
{
    char path[128];
    FILE *file;

    snprintf(path, sizeof path, "%s/here.json", site->recipes);
    file = fopen(path, "w");
    if (file == NULL)
        abort();
    fprintf(file,
            "{\"name\":\"here\",\"revision\":1,\"title\":\"A container\",\"provider\":\"local\","
            "\"engine\":\"simserve\",\"model\":\"simulated\",\"image\":\"" IMAGE
            "\",\"port\":8000,\"local\":{\"port\":%d},"
            "\"weights\":{\"from\":\"hub\",\"repository\":\"none/none\"},"
            "\"licence\":{\"name\":\"none\"},\"status\":\"reported\",\"source\":\"made up\","
            "\"as_of\":\"2026-01-01\",\"cost\":[]}",
            0, here->port);
    fclose(file);
}

static void open_machine(struct here *here)
{
    char records[96], work[96], socket[96], program[PATH_MAX];
    const struct machine_settings settings = { .folder = records,
                                               .work = work,
                                               .programs = "",
                                               .models = "",
                                               .containers = socket,
                                               .ollama = "",
                                               .watchdog = program };
    struct error error;

    snprintf(records, sizeof records, "%s/records", here->folder);
    snprintf(work, sizeof work, "%s/work", here->folder);
    snprintf(socket, sizeof socket, "%s/podman.sock", here->folder);
    fake_podman_start(&here->podman, socket);
    here->podman.on_running = set_engine;
    here->podman.context = here;
    if (realpath("/proc/self/exe", program) == NULL
        || !machine_create(&settings, &here->machine, &error))
        abort();
}

void trial_here_start(struct trial_site *site)
{
    struct here *here = calloc(1, sizeof *here);
    struct fake_server *probe = fake_server_start(answer_ready, NULL);
    char image[160];

    here->port = fake_server_port(probe);
    fake_server_stop(probe);
    snprintf(here->folder, sizeof here->folder, "/tmp/trial.XXXXXX");
    if (mkdtemp(here->folder) == NULL)
        abort();
    open_machine(here);
    snprintf(image, sizeof image, IMAGE, 0);
    json_object_set_new(here->podman.images, image, json_string(strchr(image, '@') + 1));
    snprintf(site->recipes, sizeof site->recipes, "%s", here->folder);
    write_recipe(site, here);
    site->fake = here;
    site->server = here->podman.server;
    site->objects = here->podman.containers;
    site->machine = machine_as_cloud(here->machine);
}

void trial_here_stop(struct trial_site *site)
{
    struct here *here = site->fake;

    fake_podman_stop(&here->podman);
    set_engine(here, false);
    machine_destroy(here->machine);
    machine_record_remove(here->folder);
    free(here);
}

/* This machine has no conditions, so this always returns false. If `condition` is "" and the
 * deployment's container is gone, stops the engine that an earlier run left. */
bool trial_here_set(struct trial_site *site, const char *condition)
{
    struct here *here = site->fake;

    fake_server_hold(site->server);
    if (condition[0] == '\0' && json_object_get(site->objects, TRIAL_DEPLOYMENT) == NULL)
        set_engine(here, false);
    fake_server_release(site->server);
    return false;
}

bool trial_main(int count, char **arguments, int *status)
{
    bool is_watchdog = count == 3 && strcmp(arguments[1], "watchdog") == 0;

    if (is_watchdog)
        *status = machine_watch(count - 1, arguments + 1);
    return is_watchdog;
}
