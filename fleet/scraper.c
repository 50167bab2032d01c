/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/scraper.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/core/clock.h"
#include "base/core/log.h"
#include "base/core/memory.h"
#include "base/core/thread.h"
#include "base/core/workers.h"
#include "fleet/metrics_map.h"
#include "fleet/metrics_page.h"
#include "fleet/replicas.h"
#include "fleet/scrape_schedule.h"
#include "fleet/secret_access.h"
#include "fleet/small_request.h"
#include "store/ledger/deployments.h"
#include "store/series/scrapes.h"

#define WORKERS 8
#define QUEUE_LIMIT 256
#define TIMEOUT_MS 5000
#define LOWEST_INTERVAL_MS 100
#define RELOAD_INTERVAL_NS 60000000000 /* in case scraper_wake was not called after a change */
#define VALUES_LIMIT 64
#define DEPLOYMENTS_PAGE 100
#define SHOWN_ERROR_BYTES 256

/* What a deployment's scrapes have shown about the servers that answer. */
struct scraped_deployment {
    int64_t deployment_id;
    struct replicas instances;
};

struct scraper {
    const struct access *access;
    struct store *store; /* access->store */
    struct workers *workers;
    pthread_t thread;
    atomic_bool stopping;
    pthread_mutex_t lock; /* protects the members below */
    pthread_cond_t changed;
    bool woken;
    struct scrape_schedule schedule;
    struct scraped_deployment *deployments;
    size_t deployment_count;
    void (*scraped)(void *context, const char *deployment); /* NULL: nobody listens */
    void *context;
};

/* ---- One scrape, on a worker ---- */

struct task {
    struct scraper *scraper;
    struct schedule_row due;
};

static bool is_stopping(void *context)
{
    struct scraper *scraper = context;

    return atomic_load(&scraper->stopping);
}

/* Finds the deployment's entry, or adds it. Call with the lock held. */
static struct scraped_deployment *find_or_add(struct scraper *scraper, int64_t deployment_id)
{
    struct scraped_deployment *added;

    for (size_t i = 0; i < scraper->deployment_count; i++)
        if (scraper->deployments[i].deployment_id == deployment_id)
            return &scraper->deployments[i];
    scraper->deployments = memory_resize(scraper->deployments, scraper->deployment_count + 1,
                                         sizeof *scraper->deployments);
    added = &scraper->deployments[scraper->deployment_count++];
    *added = (struct scraped_deployment){ .deployment_id = deployment_id };
    return added;
}

/* Works on a copy, because tasks for other deployments can move the array meanwhile. A deployment
 * has only one task at a time. */
static bool several_answer(struct scraper *scraper, int64_t deployment_id,
                           const struct small_request *ask,
                           const struct engine_metrics_snapshot *snapshot)
{
    struct replicas instances;
    bool several;

    pthread_mutex_lock(&scraper->lock);
    instances = find_or_add(scraper, deployment_id)->instances;
    pthread_mutex_unlock(&scraper->lock);
    several = replicas_check(ask, snapshot, &instances);
    pthread_mutex_lock(&scraper->lock);
    find_or_add(scraper, deployment_id)->instances = instances;
    pthread_mutex_unlock(&scraper->lock);
    return several;
}

static CHECKED bool ask_deployment(struct scraper *scraper, const struct schedule_row *due,
                                   struct text *body, struct engine_metrics_snapshot *out,
                                   struct error *error)
{
    struct deployment deployment;
    struct endpoint endpoint;
    struct small_request ask;
    bool ok;

    if (!deployment_find(scraper->store, due->name, &deployment, error)
        || !secret_access_endpoint(scraper->access, &deployment, &endpoint, error))
        return false;
    ask = small_request_begin(&endpoint, TIMEOUT_MS);
    ask.cancelled = is_stopping;
    ask.context = scraper;
    ok = endpoint_check_scrapable(&endpoint, error)
         && metrics_map_fetch_page(&ask, body, out, error);
    if (ok && several_answer(scraper, due->deployment_id, &ask, out))
        ok = error_set(error, ERROR_UPSTREAM, "not stored: " REPLICAS_SEVERAL);
    explicit_bzero(endpoint.bearer, sizeof endpoint.bearer);
    return ok;
}

/* Logs when a deployment exceeds a limit for the first time. From then on, each scrape also stores
 * how many series it omits because of that limit. */
static void warn_of_left_out(const struct schedule_row *due, const struct scrape_left_out *left_out)
{
    TEXT_AUTO problem = { 0 };

    if (!left_out->is_first)
        return;
    metrics_page_describe_left_out(left_out, &problem);
    log_warning("metrics of %s: %s", due->name, text_string(&problem));
}

/* Stores our figures, and the page's series under the server's own names. Ours come first, so that
 * they are the last to be omitted when the deployment reaches its limit on series. */
static CHECKED bool store_page(struct scraper *scraper, const struct schedule_row *due,
                               const struct text *body,
                               const struct engine_metrics_snapshot *snapshot, struct error *error)
{
    struct scrape_value ours[VALUES_LIMIT];
    size_t count = engine_metrics_values(snapshot, ours, VALUES_LIMIT);
    struct metrics_page page;
    bool ok;

    metrics_page_read(body, count, &page);
    memmove(page.values + count, page.values, page.count * sizeof *page.values);
    memcpy(page.values, ours, count * sizeof *ours);
    struct scrape_left_out left_out = { .by_page = page.left_out };
    ok = scrape_add(scraper->store, due->deployment_id, snapshot->at_ms, page.values,
                    count + page.count, &left_out, error);
    metrics_page_finish(&page);
    if (ok)
        warn_of_left_out(due, &left_out);
    return ok;
}

static void scrape(struct scraper *scraper, const struct schedule_row *due)
{
    TEXT_AUTO body = { 0 };
    char shown[SHOWN_ERROR_BYTES];
    struct engine_metrics_snapshot snapshot;
    struct error problem, error;
    bool answered = ask_deployment(scraper, due, &body, &snapshot, &problem);

    if (is_stopping(scraper) || (answered && store_page(scraper, due, &body, &snapshot, &problem)))
        return;
    if (answered || problem.kind == ERROR_INTERNAL)
        log_warning("metrics of %s are not stored: %s", due->name, problem.message);
    text_copy(shown, sizeof shown,
              problem.kind == ERROR_INTERNAL ? "not stored: the log says why" : problem.message);
    if (!scrape_note(scraper->store, due->deployment_id, clock_utc_ms(), shown, &error))
        log_warning("the outcome of the scrape of %s is not stored: %s", due->name, error.message);
}

static void run_task(void *context)
{
    struct task *task = context;
    struct scraper *scraper = task->scraper;

    if (!is_stopping(scraper))
        scrape(scraper, &task->due);
    pthread_mutex_lock(&scraper->lock);
    scrape_schedule_done(&scraper->schedule, task->due.deployment_id);
    if (scraper->scraped != NULL)
        scraper->scraped(scraper->context, task->due.name);
    pthread_cond_signal(&scraper->changed);
    pthread_mutex_unlock(&scraper->lock);
    free(task);
}

/* ---- The schedule, on its own thread ---- */

static const struct scrape_target *find_target(const struct scrape_target *targets, size_t count,
                                               int64_t deployment_id)
{
    for (size_t i = 0; i < count; i++)
        if (targets[i].deployment_id == deployment_id && targets[i].interval_ms > 0)
            return &targets[i];
    return NULL;
}

static void set_row(struct scraper *scraper, const struct deployment *deployment,
                    const struct scrape_target *target)
{
    int64_t interval_ms =
        target->interval_ms > LOWEST_INTERVAL_MS ? target->interval_ms : LOWEST_INTERVAL_MS;

    pthread_mutex_lock(&scraper->lock);
    scrape_schedule_set(&scraper->schedule, deployment->id, deployment->name, interval_ms * 1000000,
                        clock_monotonic_ns());
    pthread_mutex_unlock(&scraper->lock);
}

/* Adds to the schedule every watched deployment that is not retired. */
static CHECKED bool set_rows(struct scraper *scraper, const struct scrape_target *targets,
                             size_t count, struct error *error)
{
    char after[64] = "";
    size_t listed;

    do {
        FREE_AUTO struct deployment *page = NULL;

        listed = 0;
        if (!deployment_list(scraper->store, after, DEPLOYMENTS_PAGE, &page, &listed, error))
            return false;
        for (size_t i = 0; i < listed; i++) {
            const struct scrape_target *target = find_target(targets, count, page[i].id);

            if (target != NULL)
                set_row(scraper, &page[i], target);
            text_copy(after, sizeof after, page[i].name);
        }
    } while (listed == DEPLOYMENTS_PAGE);
    return true;
}

/* Reads the watched deployments from the store into the schedule. If that fails, the schedule keeps
 * all its rows. */
static void load(struct scraper *scraper)
{
    FREE_AUTO struct scrape_target *targets = NULL;
    struct error error;
    size_t count = 0;
    bool ok;

    pthread_mutex_lock(&scraper->lock);
    scrape_schedule_begin(&scraper->schedule);
    pthread_mutex_unlock(&scraper->lock);
    ok = scrape_target_list(scraper->store, &targets, &count, &error)
         && set_rows(scraper, targets, count, &error);
    if (!ok) {
        log_warning("the list of watched deployments cannot be read: %s", error.message);
        return;
    }
    pthread_mutex_lock(&scraper->lock);
    scrape_schedule_end(&scraper->schedule);
    pthread_mutex_unlock(&scraper->lock);
}

/* Call with the lock held. */
static void submit_due(struct scraper *scraper)
{
    struct task *task;
    struct error error;
    struct schedule_row due;

    while (scrape_schedule_next_due(&scraper->schedule, clock_monotonic_ns(), &due)) {
        task = memory_zeroed(1, sizeof *task);
        *task = (struct task){ scraper, due };
        if (workers_submit(scraper->workers, run_task, task, &error))
            continue;
        log_warning("one scrape of %s is skipped: %s", due.name, error.message);
        scrape_schedule_done(&scraper->schedule, due.deployment_id);
        free(task);
    }
}

/* Call with the lock held. Waits until a scrape is due, until something changes, or until
 * `latest_ns`. */
static void wait_for_change(struct scraper *scraper, int64_t latest_ns)
{
    int64_t next_ns = scrape_schedule_next_ns(&scraper->schedule);
    int64_t until_ns = next_ns < latest_ns ? next_ns : latest_ns;
    const struct timespec until = { until_ns / 1000000000, until_ns % 1000000000 };

    if (!scraper->woken && !is_stopping(scraper))
        pthread_cond_timedwait(&scraper->changed, &scraper->lock, &until);
}

static void *run(void *context)
{
    struct scraper *scraper = context;
    int64_t reload_ns = 0;

    while (!is_stopping(scraper)) {
        bool must_load = clock_monotonic_ns() >= reload_ns;

        pthread_mutex_lock(&scraper->lock);
        must_load |= scraper->woken;
        scraper->woken = false;
        pthread_mutex_unlock(&scraper->lock);
        if (must_load) {
            load(scraper);
            reload_ns = clock_monotonic_ns() + RELOAD_INTERVAL_NS;
        }
        pthread_mutex_lock(&scraper->lock);
        submit_due(scraper);
        wait_for_change(scraper, reload_ns);
        pthread_mutex_unlock(&scraper->lock);
    }
    return NULL;
}

/* ---- Creating and freeing ---- */

static void release(struct scraper *scraper)
{
    workers_destroy(scraper->workers);
    pthread_cond_destroy(&scraper->changed);
    pthread_mutex_destroy(&scraper->lock);
    scrape_schedule_finish(&scraper->schedule);
    free(scraper->deployments);
    free(scraper);
}

bool scraper_create(const struct access *access, struct scraper **out, struct error *error)
{
    struct scraper *scraper = memory_zeroed(1, sizeof *scraper);

    scraper->access = access;
    scraper->store = access->store;
    pthread_mutex_init(&scraper->lock, NULL);
    thread_condition_init(&scraper->changed);
    if (!workers_create("scrape", WORKERS, QUEUE_LIMIT, 0, &scraper->workers, error)
        || !thread_start("scraper", run, scraper, &scraper->thread, error)) {
        release(scraper);
        return false;
    }
    *out = scraper;
    return true;
}

void scraper_wake(struct scraper *scraper)
{
    pthread_mutex_lock(&scraper->lock);
    scraper->woken = true;
    pthread_cond_signal(&scraper->changed);
    pthread_mutex_unlock(&scraper->lock);
}

void scraper_listen(struct scraper *scraper, void (*scraped)(void *context, const char *deployment),
                    void *context)
{
    pthread_mutex_lock(&scraper->lock);
    scraper->scraped = scraped;
    scraper->context = context;
    pthread_mutex_unlock(&scraper->lock);
}

void scraper_destroy(struct scraper *scraper)
{
    if (scraper == NULL)
        return;
    pthread_mutex_lock(&scraper->lock);
    atomic_store(&scraper->stopping, true);
    pthread_cond_signal(&scraper->changed);
    pthread_mutex_unlock(&scraper->lock);
    pthread_join(scraper->thread, NULL);
    release(scraper);
}
