/* SPDX-License-Identifier: Apache-2.0 */
/* The fixture for tests that start servers on this machine: a temporary folder, calls to the
 * machine's API, and functions that wait for a state. The test program itself is also started as
 * the watchdog, so its main function must call machine_watch() if argv[1] is "watchdog". */
#pragma once

#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/core/clock.h"
#include "base/json/json.h"
#include "fleet/machine/machine.h"
#include "fleet/machine/machine_record.h"

struct machine_world {
    char folder[64], records[96], work[96];
    char program[PATH_MAX]; /* the path of the test program itself */
    char containers[96], ollama[64];
    char programs[PATH_MAX];
    struct machine *machine;
    struct error error;
};

static inline void machine_world_open(struct machine_world *world)
{
    const struct machine_settings settings = {
        .folder = world->records,
        .work = world->work,
        .programs = world->programs,
        .models = world->folder,
        .containers = world->containers,
        .ollama = world->ollama,
        .watchdog = world->program,
    };

    machine_destroy(world->machine);
    if (!machine_create(&settings, &world->machine, &world->error))
        fail_msg("%s", world->error.message);
}

static inline void machine_world_make(struct machine_world *world)
{
    snprintf(world->folder, sizeof world->folder, "/tmp/machine.XXXXXX");
    assert_non_null(mkdtemp(world->folder));
    chmod(world->folder, 0755); /* an engine that root starts runs under another account */
    snprintf(world->records, sizeof world->records, "%s/records", world->folder);
    snprintf(world->work, sizeof world->work, "%s/work", world->folder);
    mkdir(world->work, 0755);
    assert_non_null(realpath("/proc/self/exe", world->program));
    snprintf(world->programs, sizeof world->programs, "%s", world->program);
    machine_world_open(world);
}

static inline void machine_world_remove(struct machine_world *world)
{
    machine_destroy(world->machine);
    machine_record_remove(world->folder);
}

/* Calls the machine's API, and returns the status of its reply. `out` may be NULL; otherwise the
 * caller releases *out, the reply's body. */
static inline long machine_world_call(struct machine_world *world, const char *method,
                                      const char *path, const json_t *body, json_t **out)
{
    const struct cloud_machine *cloud = machine_as_cloud(world->machine);
    CLOUD_REPLY_AUTO reply = { 0 };

    world->error = (struct error){ 0 };
    if (!cloud->answer(cloud->context, method, path, body, &reply, &world->error)
        && world->error.message[0] == '\0')
        fail_msg("%s %s: refused without an error message", method, path);
    if (out != NULL)
        *out = json_incref(reply.body);
    return reply.status;
}

/* Waits until the server is in the state, and fails the test after 20 s. Returns the server's
 * document, which the caller releases, or NULL for the state "absent": there is no server. */
static inline json_t *machine_world_wait(struct machine_world *world, const char *name,
                                         const char *state)
{
    int64_t ends_ns = clock_monotonic_ns() + INT64_C(20000000000);
    char path[128], last[512] = "";

    snprintf(path, sizeof path, "/servers/%s", name);
    while (clock_monotonic_ns() < ends_ns) {
        json_t *server = NULL;
        long status = machine_world_call(world, "GET", path, NULL, &server);

        if (status == 404 && strcmp(state, "absent") == 0)
            return NULL;
        if (strcmp(json_get_text(server, "state", ""), state) == 0)
            return server;
        snprintf(last, sizeof last, "%ld %s: %.200s (%.200s)", status,
                 json_get_text(server, "state", ""), json_get_text(server, "message", ""),
                 json_get_text(server, "log_line", ""));
        json_decref(server);
        nanosleep(&(struct timespec){ .tv_nsec = 20000000 }, NULL);
    }
    fail_msg("server %s: got %s, expected state %s", name, last, state);
    return NULL;
}

static inline void machine_world_expect(struct machine_world *world, const char *name,
                                        const char *state)
{
    json_decref(machine_world_wait(world, name, state));
}

/* Fails unless the error of the latest call contains `part`. */
static inline void machine_world_says(const struct machine_world *world, const char *part)
{
    if (strstr(world->error.message, part) == NULL)
        fail_msg("\"%s\" is not in \"%s\"", part, world->error.message);
}
