/* SPDX-License-Identifier: Apache-2.0 */
/* Subscriptions to resources and to lists, and the thread that notifies the subscribers, at most
 * once a second each. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/core/digest.h"
#include "base/core/error.h"
#include "server/streams/subscribers.h"
#include "server/streams/task_followers.h"

struct notifier;
struct resource;
struct session;
struct sessions;
struct sse_queue;
struct store;
struct stream;

/* The parts that the notifier needs; borrowed. */
struct notifier_parts {
    struct store *store;
    struct sessions *sessions;
    const struct resource *const *resources;
    task_show *show_task;
    void *show_context;
};
struct notifier *notifier_create(const struct notifier_parts *parts);
/* Restores the sessions' subscriptions from before the restart. */
CHECKED bool notifier_start(struct notifier *notifier, struct error *error);
/* Ends the thread; later notifications are lost. May be called twice. */
void notifier_stop(struct notifier *notifier);
void notifier_destroy(struct notifier *notifier); /* NULL is fine */

/* Subscribes a session to a resource until the session ends; it is notified on its standing stream.
 * The subscription is stored with the session. The URI must be valid. BUSY: the session has too
 * many. */
CHECKED bool notifier_subscribe(struct notifier *notifier, struct session *session, const char *uri,
                                struct error *error);
CHECKED bool notifier_unsubscribe(struct notifier *notifier, struct session *session,
                                  const char *uri, struct error *error);
/* Subscribes a stream, until it is closed, to lists (bits) and resources, and first sends the
 * message `first`: the client is notified of every later change. `meta` is the JSON text of the
 * member _meta of each notification. At most SUBSCRIPTIONS_LIMIT URIs. */
void notifier_listen(struct notifier *notifier, struct stream *stream, const struct text *first,
                     const char *meta, unsigned lists, const char *const *uris, size_t count);
/* The same for tasks, each sent in full: at most SUBSCRIPTIONS_LIMIT ids of jobs. `base_url`: the
 * address of the pages, as the client reaches them. */
void notifier_listen_tasks(struct notifier *notifier, struct stream *stream, const char *meta,
                           const char *base_url, const char *const *ids, size_t count);

/* For a page: sends the names of everything that changes, as a JSON list, until the connection is
 * over. "*" stands for a list that changed, "*load" for metrics that were scraped, which is sent
 * every few seconds at most. `principal`, `session`: as watchers_add. BUSY: there are too many. */
CHECKED bool notifier_watch(struct notifier *notifier, struct sse_queue *sse_queue,
                            const char *principal, const uint8_t session[DIGEST_BYTES],
                            struct error *error);
/* Ends the streams of a browser that is signed out; the context is the notifier. */
void notifier_unwatch(void *context, const uint8_t session[DIGEST_BYTES]);

/* These report a change; any thread. The context is the notifier: they are used as callbacks. A
 * change of a job is also one of its sweep, its runs and its deployment. */
void notifier_job_moved(void *context, const char *job_id);
void notifier_scraped(void *context, const char *deployment);
/* The resources of a deployment, for example, changed. */
void notifier_resource_changed(struct notifier *notifier, const char *name);
void notifier_list_changed(struct notifier *notifier, unsigned lists);
/* A tool changed resources: this deployment ("": none), and the list of resources. */
void notifier_tool_changed(struct notifier *notifier, const char *deployment);
