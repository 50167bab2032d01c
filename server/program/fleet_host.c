/* SPDX-License-Identifier: Apache-2.0 */
#include "server/program/fleet_host.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/core/clock.h"
#include "base/core/log.h"
#include "base/core/memory.h"
#include "base/core/thread.h"
#include "fleet/machine/machine.h"
#include "fleet/managed/managed_locks.h"
#include "fleet/managed/managed_reconcile.h"
#include "fleet/recipes/recipe_fit.h"
#include "fleet/secret_access.h"
#include "handlers/fleet/recipe_shelf.h"
#include "server/program/fleet_place.h"
#include "server/settings/settings.h"
#include "server/streams/notifier.h"

#define ROUND_S 60                 /* pause between two rounds */
#define PATIENCE_MS (60 * 60000LL) /* how long a server may take to become ready */

/* A target's credential with its tokens. If the target changes, another held_cloud is made; the old
 * one is kept until fleet_host_destroy, since a call might still be using it. */
struct held_cloud {
    char target[64];
    int64_t revision;
    struct cloud *cloud;
    struct held_cloud *next;
};

struct fleet_host {
    struct fleet_frame frame;
    struct managed_locks *locks;
    struct access_locks finder;
    const struct services *services;
    const char *folder;
    struct cloud_endpoints *endpoints;
    struct machine *machine; /* NULL: nothing is started on this machine */
    atomic_bool only_reads;
    pthread_mutex_t lock; /* protects `clouds`; held to set `stopping` and to signal `woken` */
    pthread_cond_t woken;
    struct held_cloud *clouds;
    atomic_bool stopping;

    struct managed_reconciler *reconciler;
    struct notifier *notifier;
    pthread_t thread;
    bool started;
};

/* ---- Callbacks of fleet/managed/ ---- */

static bool is_stopping(void *context)
{
    const struct fleet_host *host = context;

    return atomic_load(&host->stopping);
}

static struct held_cloud *find_cloud(const struct fleet_host *host,
                                     const struct fleet_target *target)
{
    struct held_cloud *held = host->clouds;

    while (held != NULL
           && (strcmp(held->target, target->name) != 0 || held->revision != target->revision))
        held = held->next;
    return held;
}

static CHECKED bool hold_cloud(struct fleet_host *host, const struct fleet_target *target,
                               struct held_cloud **out, struct error *error)
{
    const struct cloud_config config = {
        .secrets_folder = host->services->access.secrets_folder,
        .endpoints = host->endpoints,
        .machine = host->machine == NULL ? NULL : machine_as_cloud(host->machine),
        .proxy = target->proxy,
        .stopping = is_stopping,
        .context = host,
    };
    struct cloud *cloud;

    if (!cloud_create(&target->credential, &config, &cloud, error))
        return false;
    *out = memory_zeroed(1, sizeof **out);
    **out =
        (struct held_cloud){ .revision = target->revision, .cloud = cloud, .next = host->clouds };
    text_copy((*out)->target, sizeof(*out)->target, target->name);
    host->clouds = *out;
    return true;
}

static CHECKED bool open_cloud(void *context, const struct fleet_target *target, struct cloud **out,
                               struct error *error)
{
    struct fleet_host *host = context;
    struct held_cloud *held;
    bool done = true;

    pthread_mutex_lock(&host->lock);
    held = find_cloud(host, target);
    if (held == NULL)
        done = hold_cloud(host, target, &held, error);
    pthread_mutex_unlock(&host->lock);
    if (done)
        *out = held->cloud;
    return done;
}

static CHECKED bool find_recipe(void *context, const char *name, struct recipe *out,
                                struct error *error)
{
    const struct fleet_host *host = context;

    return recipe_shelf_find(host->services, name, out, error);
}

static void find_price(void *context, const struct recipe *recipe, const char *place,
                       const char *kind, struct price *out)
{
    const struct fleet_host *host = context;

    price_of(host->services->prices, recipe, place, kind, out);
}

static CHECKED bool find_lock(void *context, const struct deployment *deployment,
                              const struct endpoint_lock **out, struct error *error)
{
    return managed_locks_find(context, deployment, out, error);
}

/* ---- The place ---- */

static CHECKED bool read_place(struct fleet_host *host, struct error *error)
{
    struct fleet_instance instance;
    bool was_moved = atomic_load(&host->only_reads);

    if (!fleet_place_read(host->services->store, host->folder, &instance, error))
        return false;
    text_copy(host->frame.instance, sizeof host->frame.instance, instance.id);
    atomic_store(&host->only_reads, instance.moved);
    if (instance.moved && !was_moved)
        log_warning(
            "this database was moved, copied or restored: opsbrain only reads the clouds until "
            "`opsbrain fleet resume` is run");
    return true;
}

/* ---- The thread ---- */

static void report(void *context, const char *deployment, const char *sentence, bool is_warning)
{
    const struct fleet_host *host = context;

    (void)sentence;
    (void)is_warning;
    notifier_resource_changed(host->notifier, deployment);
}

static bool sleep_round(struct fleet_host *host)
{
    struct timespec until;
    bool stopping;
    int failed = 0;

    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += ROUND_S;
    pthread_mutex_lock(&host->lock);
    while (!host->stopping && failed == 0)
        failed = pthread_cond_timedwait(&host->woken, &host->lock, &until);
    stopping = host->stopping;
    pthread_mutex_unlock(&host->lock);
    return !stopping;
}

static void run_round(struct fleet_host *host)
{
    struct managed_round round;
    struct error error;

    if (atomic_load(&host->only_reads) && !read_place(host, &error))
        log_warning("cannot check whether the database was moved: %s", error.message);
    if (!managed_reconcile_round(host->reconciler, &round, &error))
        log_warning("checking the managed deployments failed: %s", error.message);
    else if (round.requeued + round.ended > 0)
        job_pool_wake(host->services->jobs);
}

static void *run_thread(void *context)
{
    struct fleet_host *host = context;

    do
        run_round(host);
    while (sleep_round(host));
    return NULL;
}

/* ---- This machine ---- */

/* Only the settings can allow model servers on this machine, and no tool can change settings. */
static CHECKED bool open_machine(struct fleet_host *host, const struct settings *settings,
                                 struct error *error)
{
    char data[PATH_MAX], folder[PATH_MAX + 16];
    const struct machine_settings machine = {
        .folder = folder,
        .work = settings->this_machine_work,
        .programs = settings->this_machine_programs,
        .models = settings->this_machine_models,
        .containers = settings->this_machine_containers,
        .ollama = settings->this_machine_ollama,
        .watchdog = "/proc/self/exe",
    };

    if (!settings->this_machine)
        return true;
    if (realpath(settings->data, data) == NULL)
        return error_set(error, ERROR_INVALID, "cannot find the data folder \"%s\": %s",
                         settings->data, strerror(errno));
    snprintf(folder, sizeof folder, "%s/this_machine", data);
    return machine_check_place(error) && machine_create(&machine, &host->machine, error);
}

/* ---- Creating and freeing ---- */

bool fleet_host_create(const struct settings *settings, const struct services *services,
                       struct fleet_host **out, struct error *error)
{
    struct fleet_host *host = memory_zeroed(1, sizeof *host);

    host->services = services;
    host->folder = settings->data;
    pthread_mutex_init(&host->lock, NULL);
    thread_condition_init(&host->woken);
    host->frame = (struct fleet_frame){ .store = services->store,
                                        .catalog = services->catalog,
                                        .providers = provider_all(),
                                        .only_reads = &host->only_reads,
                                        .context = host,
                                        .cloud = open_cloud,
                                        .call = cloud_call,
                                        .recipe = find_recipe,
                                        .price = find_price,
                                        .fit = recipe_fit_check,
                                        .now_ms = clock_utc_ms,
                                        .pause_ms = settings->cloud_pause_ms,
                                        .patience_ms = PATIENCE_MS };
    host->locks = managed_locks_create(&host->frame);
    host->finder = (struct access_locks){ host->locks, find_lock };
    if (!cloud_endpoints_create(settings->cloud_endpoints, &host->endpoints, error)
        || !open_machine(host, settings, error) || !read_place(host, error)) {
        fleet_host_destroy(host);
        return false;
    }
    *out = host;
    return true;
}

const struct access_locks *fleet_host_locks(const struct fleet_host *host)
{
    return &host->finder;
}

const struct fleet_frame *fleet_host_frame(const struct fleet_host *host)
{
    return &host->frame;
}

bool fleet_host_start(struct fleet_host *host, struct notifier *notifier, struct error *error)
{
    host->notifier = notifier;
    host->reconciler = managed_reconcile_create(&host->frame, report, host);
    host->started = thread_start("fleet", run_thread, host, &host->thread, error);
    return host->started;
}

void fleet_host_stop(struct fleet_host *host)
{
    if (host == NULL)
        return;
    pthread_mutex_lock(&host->lock);
    atomic_store(&host->stopping, true);
    pthread_cond_signal(&host->woken);
    pthread_mutex_unlock(&host->lock);
    if (!host->started)
        return;
    pthread_join(host->thread, NULL);
    host->started = false;
}

void fleet_host_destroy(struct fleet_host *host)
{
    if (host == NULL)
        return;
    fleet_host_stop(host);
    managed_reconcile_destroy(host->reconciler);
    managed_locks_destroy(host->locks);
    for (struct held_cloud *held = host->clouds, *next; held != NULL; held = next) {
        next = held->next;
        cloud_destroy(held->cloud);
        free(held);
    }
    cloud_endpoints_destroy(host->endpoints);
    machine_destroy(host->machine);
    pthread_cond_destroy(&host->woken);
    pthread_mutex_destroy(&host->lock);
    free(host);
}
