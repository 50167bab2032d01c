/* SPDX-License-Identifier: Apache-2.0 */
#include "server/streams/task_followers.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/log.h"
#include "base/core/memory.h"
#include "base/json/json.h"
#include "server/streams/stream.h"

struct followed {
    char id[INSTANCE_VALUE_SIZE];
    bool due; /* its state must be sent */
};

struct follower {
    struct follower *next;
    struct stream *stream; /* a reference */
    char *meta, *base_url;
    size_t count;
    struct followed tasks[];
};

struct task_followers {
    task_show *show;
    void *context;
    pthread_mutex_t lock;
    struct follower *first;
    atomic_size_t count;
};

/* A task whose state is sent in one round, which is one call of task_followers_notify. `members`:
 * the task as a JSON object; NULL if the task could not be read. */
struct shown {
    char id[INSTANCE_VALUE_SIZE];
    char *base_url; /* the base_url of the followers that receive this */
    char *members;
};
struct round {
    struct shown *at;
    size_t count;
};

struct task_followers *task_followers_create(task_show *show, void *context)
{
    struct task_followers *followers = memory_zeroed(1, sizeof *followers);

    followers->show = show;
    followers->context = context;
    pthread_mutex_init(&followers->lock, NULL);
    atomic_init(&followers->count, 0);
    return followers;
}

static void follower_free(struct follower *follower)
{
    stream_release(follower->stream);
    free(follower->meta);
    free(follower->base_url);
    free(follower);
}

void task_followers_destroy(struct task_followers *followers)
{
    if (followers == NULL)
        return;
    while (followers->first != NULL) {
        struct follower *next = followers->first->next;

        follower_free(followers->first);
        followers->first = next;
    }
    pthread_mutex_destroy(&followers->lock);
    free(followers);
}

void task_followers_add(struct task_followers *followers, struct stream *stream, const char *meta,
                        const char *base_url, const char *const *ids, size_t count)
{
    struct follower *follower =
        memory_zeroed(1, sizeof *follower + count * sizeof *follower->tasks);

    follower->stream = stream_retain(stream);
    follower->meta = memory_copy_text(meta);
    follower->base_url = memory_copy_text(base_url);
    follower->count = count;
    for (size_t i = 0; i < count; i++) {
        text_copy(follower->tasks[i].id, sizeof follower->tasks[i].id, ids[i]);
        follower->tasks[i].due = true;
    }
    pthread_mutex_lock(&followers->lock);
    follower->next = followers->first;
    followers->first = follower;
    atomic_fetch_add(&followers->count, 1);
    pthread_mutex_unlock(&followers->lock);
}

bool task_followers_any(const struct task_followers *followers)
{
    return atomic_load(&followers->count) > 0;
}

/* ---- Notifying ---- */

static const struct shown *find_shown(const struct round *round, const char *id,
                                      const char *base_url)
{
    for (size_t i = 0; i < round->count; i++)
        if (strcmp(round->at[i].id, id) == 0 && strcmp(round->at[i].base_url, base_url) == 0)
            return &round->at[i];
    return NULL;
}

static void add_shown(struct round *round, const char *id, const char *base_url)
{
    if (find_shown(round, id, base_url) != NULL)
        return;
    round->at = memory_resize(round->at, round->count + 1, sizeof *round->at);
    round->at[round->count] = (struct shown){ .base_url = memory_copy_text(base_url) };
    text_copy(round->at[round->count++].id, INSTANCE_VALUE_SIZE, id);
}

static bool is_among(const char (*ids)[INSTANCE_VALUE_SIZE], size_t count, const char *id)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(ids[i], id) == 0)
            return true;
    return false;
}

/* The lock must be held. */
static void forget_gone(struct task_followers *followers)
{
    struct follower **at = &followers->first;

    while (*at != NULL) {
        struct follower *follower = *at;

        if (stream_is_open(follower->stream)) {
            at = &follower->next;
            continue;
        }
        *at = follower->next;
        atomic_fetch_sub(&followers->count, 1);
        follower_free(follower);
    }
}

/* Marks the tasks whose state must be sent, and adds them to the round. The lock must be held. */
static void mark_due(struct task_followers *followers, const char (*moved)[INSTANCE_VALUE_SIZE],
                     size_t count, bool all, struct round *round)
{
    for (struct follower *at = followers->first; at != NULL; at = at->next) {
        for (size_t i = 0; i < at->count; i++) {
            struct followed *task = &at->tasks[i];

            task->due = task->due || all || is_among(moved, count, task->id);
            if (task->due)
                add_shown(round, task->id, at->base_url);
        }
    }
}

static void read_shown(const struct task_followers *followers, struct shown *shown)
{
    json_auto_t *task = NULL;
    struct error error;

    if (followers->show(followers->context, shown->id, shown->base_url, &task, &error))
        shown->members = json_write(task);
    else
        log_warning("subscribers of task %s are not notified: %s", shown->id, error.message);
}

static void push(const struct follower *follower, const char *members)
{
    TEXT_AUTO json = { 0 };

    text_addf(&json,
              "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tasks\",\"params\":{\"_meta\":%s,",
              follower->meta);
    text_add(&json, members + 1); /* without the opening brace */
    text_add_char(&json, '}');
    stream_push(follower->stream, text_string(&json), json.length);
}

/* A task that is not in the round stays due: its follower was added after mark_due. */
static void notify(struct follower *follower, const struct round *round)
{
    for (size_t i = 0; i < follower->count; i++) {
        struct followed *task = &follower->tasks[i];
        const struct shown *shown =
            task->due ? find_shown(round, task->id, follower->base_url) : NULL;

        if (shown == NULL)
            continue;
        task->due = false;
        if (shown->members != NULL)
            push(follower, shown->members);
    }
}

void task_followers_notify(struct task_followers *followers,
                           const char (*moved)[INSTANCE_VALUE_SIZE], size_t count, bool all)
{
    struct round round = { 0 };

    pthread_mutex_lock(&followers->lock);
    forget_gone(followers);
    mark_due(followers, moved, count, all, &round);
    pthread_mutex_unlock(&followers->lock);
    for (size_t i = 0; i < round.count; i++)
        read_shown(followers, &round.at[i]);
    pthread_mutex_lock(&followers->lock);
    for (struct follower *at = followers->first; at != NULL; at = at->next)
        notify(at, &round);
    pthread_mutex_unlock(&followers->lock);
    for (size_t i = 0; i < round.count; i++) {
        free(round.at[i].members);
        free(round.at[i].base_url);
    }
    free(round.at);
}
