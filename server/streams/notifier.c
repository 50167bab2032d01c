/* SPDX-License-Identifier: Apache-2.0 */
#include "server/streams/notifier.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/core/clock.h"
#include "base/core/log.h"
#include "base/core/memory.h"
#include "base/core/thread.h"
#include "base/json/json.h"
#include "server/streams/session.h"
#include "server/streams/stream.h"
#include "server/streams/subscribers.h"
#include "server/streams/task_followers.h"
#include "server/streams/watchers.h"
#include "store/ledger/sweeps.h"

#define ROUND_S 1
#define LOAD_ROUND_NS 5000000000 /* minimum time between two messages about scraped metrics */
/* How many ids of jobs, and how many names of resources, are kept in a round. If more change, every
 * name counts as changed. */
#define NAMES_LIMIT 1024
#define RUNS_LIMIT 1000 /* the maximum number of a sweep's runs whose subscribers are notified */

struct names {
    char (*at)[INSTANCE_VALUE_SIZE];
    size_t count;
};

/* What has happened since the last round. */
struct news {
    struct names jobs, resources;
    bool all;       /* more names changed than fit into jobs or resources */
    bool load;      /* metrics were scraped */
    bool followers; /* there are new followers, which must receive the state of their tasks */
    unsigned lists; /* bits of enum notifier_list */
};

struct notifier {
    struct store *store;
    struct sessions *sessions;
    struct task_followers *task_followers;
    struct watchers *watchers;
    pthread_t thread;
    bool started;
    pthread_mutex_t lock; /* protects the rest */
    pthread_cond_t woken;
    bool stopping;
    struct subscribers *subscribers;
    struct news news;
    int64_t load_due_ns; /* monotonic time before which pages are not notified of news.load */
};

struct notifier *notifier_create(const struct notifier_parts *parts)
{
    struct notifier *notifier = memory_zeroed(1, sizeof *notifier);

    notifier->store = parts->store;
    notifier->sessions = parts->sessions;
    notifier->subscribers = subscribers_create(parts->sessions, parts->resources);
    notifier->task_followers = task_followers_create(parts->show_task, parts->show_context);
    notifier->watchers = watchers_create();
    pthread_mutex_init(&notifier->lock, NULL);
    thread_condition_init(&notifier->woken);
    return notifier;
}

/* ---- Subscribers ---- */

static void unfollow(struct notifier *notifier, const struct session *session, const char *uri)
{
    pthread_mutex_lock(&notifier->lock);
    subscribers_unfollow(notifier->subscribers, session, uri);
    pthread_mutex_unlock(&notifier->lock);
}

bool notifier_subscribe(struct notifier *notifier, struct session *session, const char *uri,
                        struct error *error)
{
    bool fits;

    pthread_mutex_lock(&notifier->lock);
    fits = subscribers_follow(notifier->subscribers, session, uri);
    pthread_mutex_unlock(&notifier->lock);
    if (!fits)
        return error_set(
            error, ERROR_BUSY,
            "a session can subscribe to at most %d resources: unsubscribe from some first",
            SUBSCRIPTIONS_LIMIT);
    if (session_subscription_add(notifier->store, session->id, uri, error))
        return true;
    unfollow(notifier, session, uri);
    return false;
}

bool notifier_unsubscribe(struct notifier *notifier, struct session *session, const char *uri,
                          struct error *error)
{
    unfollow(notifier, session, uri);
    return session_subscription_remove(notifier->store, session->id, uri, error);
}

/* Restores the subscriptions of sessions after a restart. */
static CHECKED bool restore(struct notifier *notifier, struct error *error)
{
    struct session_subscription_row *rows;
    size_t count;

    if (!session_subscription_load(notifier->store, &rows, &count, error))
        return false;
    pthread_mutex_lock(&notifier->lock);
    for (size_t i = 0; i < count; i++) {
        struct session *session = sessions_find(notifier->sessions, rows[i].session);

        if (session != NULL)
            subscribers_follow(notifier->subscribers, session, rows[i].uri);
        session_release(session);
    }
    pthread_mutex_unlock(&notifier->lock);
    session_subscription_rows_free(rows, count);
    return true;
}

void notifier_listen(struct notifier *notifier, struct stream *stream, const struct text *first,
                     const char *meta, unsigned lists, const char *const *uris, size_t count)
{
    pthread_mutex_lock(&notifier->lock);
    stream_push(stream, text_string(first), first->length);
    subscribers_listen(notifier->subscribers, stream, meta, lists, uris, count);
    pthread_mutex_unlock(&notifier->lock);
}

void notifier_listen_tasks(struct notifier *notifier, struct stream *stream, const char *meta,
                           const char *base_url, const char *const *ids, size_t count)
{
    task_followers_add(notifier->task_followers, stream, meta, base_url, ids, count);
    pthread_mutex_lock(&notifier->lock);
    notifier->news.followers = true;
    pthread_cond_signal(&notifier->woken);
    pthread_mutex_unlock(&notifier->lock);
}

bool notifier_watch(struct notifier *notifier, struct sse_queue *sse_queue, const char *principal,
                    const uint8_t session[DIGEST_BYTES], struct error *error)
{
    return watchers_add(notifier->watchers, sse_queue, principal, session, error);
}

void notifier_unwatch(void *context, const uint8_t session[DIGEST_BYTES])
{
    struct notifier *notifier = context;

    watchers_end(notifier->watchers, session);
}

/* ---- What changed ---- */

static bool has_name(const struct names *names, const char *name)
{
    for (size_t i = 0; i < names->count; i++)
        if (strcmp(names->at[i], name) == 0)
            return true;
    return false;
}

static void add_name(struct names *names, const char *name)
{
    names->at = memory_resize(names->at, names->count + 1, sizeof *names->at);
    text_copy(names->at[names->count++], INSTANCE_VALUE_SIZE, name);
}

/* Records a change of `name`, unless there is nobody to notify. `names`: the member of
 * notifier->news for changes of this kind. */
static void record(struct notifier *notifier, struct names *names, const char *name)
{
    pthread_mutex_lock(&notifier->lock);
    if ((subscribers_any(notifier->subscribers) || task_followers_any(notifier->task_followers)
         || watchers_any(notifier->watchers))
        && !has_name(names, name)) {
        if (names->count < NAMES_LIMIT)
            add_name(names, name);
        else
            notifier->news.all = true;
        pthread_cond_signal(&notifier->woken);
    }
    pthread_mutex_unlock(&notifier->lock);
}

void notifier_job_moved(void *context, const char *job_id)
{
    struct notifier *notifier = context;

    record(notifier, &notifier->news.jobs, job_id);
}

void notifier_scraped(void *context, const char *deployment)
{
    struct notifier *notifier = context;

    (void)deployment;
    pthread_mutex_lock(&notifier->lock);
    notifier->news.load = true;
    pthread_cond_signal(&notifier->woken);
    pthread_mutex_unlock(&notifier->lock);
}

void notifier_resource_changed(struct notifier *notifier, const char *name)
{
    record(notifier, &notifier->news.resources, name);
}

void notifier_list_changed(struct notifier *notifier, unsigned lists)
{
    pthread_mutex_lock(&notifier->lock);
    notifier->news.lists |= lists;
    pthread_cond_signal(&notifier->woken);
    pthread_mutex_unlock(&notifier->lock);
}

void notifier_changed_by_tool(struct notifier *notifier, const char *deployment)
{
    if (deployment[0] != '\0')
        notifier_resource_changed(notifier, deployment);
    notifier_list_changed(notifier, NOTIFIER_RESOURCES);
}

/* ---- Notifying ---- */

static void add_runs(struct store *store, const char *sweep_id, struct names *moved)
{
    struct run_row *runs = NULL;
    struct error error;
    size_t count;

    if (!run_list(store, NULL, sweep_id, 0, RUNS_LIMIT, &runs, &count, &error)) {
        log_warning("subscribers of the runs of %s are not notified: %s", sweep_id, error.message);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        add_name(moved, runs[i].id);
        if (!has_name(moved, runs[i].deployment))
            add_name(moved, runs[i].deployment);
    }
    run_rows_free(runs, count);
}

/* Collects the ids of the jobs, and the names and ids of everything that changed with them. */
static void find_moved(struct store *store, const struct names *jobs, struct names *moved)
{
    struct error error;
    struct job job;

    for (size_t i = 0; i < jobs->count; i++) {
        add_name(moved, jobs->at[i]);
        if (!job_find(store, jobs->at[i], &job, &error)) {
            log_warning("subscribers of job %s are not fully notified: %s", jobs->at[i],
                        error.message);
            continue;
        }
        if (job.subject[0] == '\0')
            continue;
        add_name(moved, job.subject);
        add_runs(store, job.subject, moved);
    }
}

struct change_set {
    const struct names *moved, *resources;
    bool all;
};

static bool has_changed(const void *context, const char *value)
{
    const struct change_set *set = context;

    return set->all || has_name(set->moved, value) || has_name(set->resources, value);
}

static void add_json(const struct names *names, struct text *json)
{
    for (size_t i = 0; i < names->count; i++) {
        text_add(json, json->length > 1 ? "," : "");
        json_add_string(json, names->at[i], strlen(names->at[i]));
    }
}

static void add_mark(const char *mark, struct text *json)
{
    text_addf(json, "%s\"%s\"", json->length > 1 ? "," : "", mark);
}

/* Sends the pages a list such as ["job_...", "sim"]. In it, "*" means that anything may have
 * changed, and "*load" that metrics were scraped. */
static void notify_watchers(struct notifier *notifier, const struct news *news,
                            const struct names *moved)
{
    TEXT_AUTO json = { 0 };

    text_add(&json, "[");
    add_json(moved, &json);
    add_json(&news->resources, &json);
    if (news->all || news->lists != 0)
        add_mark("*", &json);
    if (news->load)
        add_mark("*load", &json);
    text_add(&json, "]");
    if (json.length > 2)
        watchers_notify(notifier->watchers, text_string(&json), json.length);
}

static void notify_all(struct notifier *notifier, const struct news *news)
{
    struct names moved = { 0 };
    const struct change_set changes = { &moved, &news->resources, news->all };

    find_moved(notifier->store, &news->jobs, &moved);
    pthread_mutex_lock(&notifier->lock);
    subscribers_notify(notifier->subscribers, news->lists, has_changed, &changes);
    pthread_mutex_unlock(&notifier->lock);
    notify_watchers(notifier, news, &moved);
    task_followers_notify(notifier->task_followers, news->jobs.at, news->jobs.count, news->all);
    subscribers_notify_sessions(notifier->subscribers, news->lists);
    free(moved.at);
}

/* ---- The thread ---- */

static bool is_load_due(const struct notifier *notifier)
{
    return notifier->news.load && clock_monotonic_ns() >= notifier->load_due_ns;
}

static bool has_news(const struct notifier *notifier)
{
    const struct news *news = &notifier->news;

    return news->jobs.count > 0 || news->resources.count > 0 || news->lists != 0 || news->followers
           || is_load_due(notifier);
}

static void wait_for_wake(struct notifier *notifier)
{
    const struct timespec due = { notifier->load_due_ns / 1000000000,
                                  notifier->load_due_ns % 1000000000 };

    if (notifier->news.load)
        pthread_cond_timedwait(&notifier->woken, &notifier->lock, &due);
    else
        pthread_cond_wait(&notifier->woken, &notifier->lock);
}

/* Moves the news to *out, except that news.load stays until it is due. */
static void move_news(struct notifier *notifier, struct news *out)
{
    bool load = is_load_due(notifier);

    *out = notifier->news;
    out->load = load;
    notifier->news = (struct news){ .load = notifier->news.load && !load };
    if (load)
        notifier->load_due_ns = clock_monotonic_ns() + LOAD_ROUND_NS;
}

/* Under the lock: waits until something has happened. Returns false if the thread must stop. *out
 * is set in either case; free it with news_free. */
static bool wait_for_news(struct notifier *notifier, struct news *out)
{
    while (!notifier->stopping && !has_news(notifier))
        wait_for_wake(notifier);
    move_news(notifier, out);
    return !notifier->stopping;
}

/* Under the lock: waits a moment, so that changes made in that time are sent together. */
static void wait_for_round(struct notifier *notifier)
{
    struct timespec until;
    int failed = 0;

    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += ROUND_S;
    while (!notifier->stopping && failed == 0)
        failed = pthread_cond_timedwait(&notifier->woken, &notifier->lock, &until);
}

static void news_free(struct news *news)
{
    free(news->jobs.at);
    free(news->resources.at);
}

static void *run_thread(void *context)
{
    struct notifier *notifier = context;
    struct news news;

    pthread_mutex_lock(&notifier->lock);
    while (wait_for_news(notifier, &news)) {
        pthread_mutex_unlock(&notifier->lock);
        notify_all(notifier, &news);
        news_free(&news);
        pthread_mutex_lock(&notifier->lock);
        wait_for_round(notifier);
    }
    pthread_mutex_unlock(&notifier->lock);
    news_free(&news);
    return NULL;
}

bool notifier_start(struct notifier *notifier, struct error *error)
{
    if (!restore(notifier, error))
        return false;
    notifier->started = thread_start("notifier", run_thread, notifier, &notifier->thread, error);
    return notifier->started;
}

void notifier_stop(struct notifier *notifier)
{
    if (!notifier->started)
        return;
    pthread_mutex_lock(&notifier->lock);
    notifier->stopping = true;
    pthread_cond_signal(&notifier->woken);
    pthread_mutex_unlock(&notifier->lock);
    pthread_join(notifier->thread, NULL);
    notifier->started = false;
}

void notifier_destroy(struct notifier *notifier)
{
    if (notifier == NULL)
        return;
    notifier_stop(notifier);
    subscribers_destroy(notifier->subscribers);
    news_free(&notifier->news);
    task_followers_destroy(notifier->task_followers);
    watchers_destroy(notifier->watchers);
    pthread_cond_destroy(&notifier->woken);
    pthread_mutex_destroy(&notifier->lock);
    free(notifier);
}
