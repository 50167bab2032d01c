/* SPDX-License-Identifier: Apache-2.0 */
/* Subscriptions to resources and to lists, and the thread that notifies the subscribers, at most
 * once a second each. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/core/error.h"
#include "server/streams/subscribers.h"
#include "server/streams/task_followers.h"

struct notifier;
struct resource;
struct session;
struct sessions;
struct store;
struct stream;

/* What the notifier is given; lent. */
struct notifier_parts {
    struct store *store;
    struct sessions *sessions;
    const struct resource *const *resources;
    task_show *show_task;
    void *show_context;
};
struct notifier *notifier_create(const struct notifier_parts *parts);
/* With what sessions followed when the process ended before. */
CHECKED bool notifier_start(struct notifier *notifier, struct error *error);
/* Ends the thread; later notifications are lost. May be called twice. */
void notifier_stop(struct notifier *notifier);
void notifier_destroy(struct notifier *notifier); /* NULL is fine */

/* A session that hears of a resource on its standing stream, until it ends; stored with it. BUSY:
 * it has too many. The URI is one of ours. */
CHECKED bool notifier_subscribe(struct notifier *notifier, struct session *session, const char *uri,
                                struct error *error);
CHECKED bool notifier_unsubscribe(struct notifier *notifier, struct session *session,
                                  const char *uri, struct error *error);
/* A stream that hears of lists (bits) and of resources until it is closed; `meta` is the JSON text
 * of the member _meta that each of its messages has. At most SUBSCRIPTIONS_LIMIT URIs. */
void notifier_listen(struct notifier *notifier, struct stream *stream, const char *meta,
                     unsigned lists, const char *const *uris, size_t count);
/* The same for tasks, each sent in full: at most SUBSCRIPTIONS_LIMIT ids of jobs. */
void notifier_listen_tasks(struct notifier *notifier, struct stream *stream, const char *meta,
                           const char *const *ids, size_t count);

/* What happened; any thread. The context is the notifier: the signature is a callback's. A job's
 * news are also those of the sweep it works on, of its runs and of its deployment. */
void notifier_job_moved(void *context, const char *job_id);
void notifier_thing_changed(struct notifier *notifier, const char *name); /* a deployment's, say */
void notifier_list_changed(struct notifier *notifier, unsigned lists);
