/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps track of open pages and of subscriptions to resources, lists and tasks. A thread notifies
 * the pages and the subscribers, in rounds that are at least a second apart. */
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
/* Restores the stored subscriptions of sessions, and starts the thread. */
CHECKED bool notifier_start(struct notifier *notifier, struct error *error);
/* Ends the thread. Changes that were not sent by then are lost. May be called twice. */
void notifier_stop(struct notifier *notifier);
void notifier_destroy(struct notifier *notifier); /* NULL is fine */

/* Subscribes a session to a resource until the session ends. The session is notified on its
 * long-lived stream. The subscription is stored with the session. The URI must be valid. BUSY: the
 * session already has SUBSCRIPTIONS_LIMIT subscriptions. */
CHECKED bool notifier_subscribe(struct notifier *notifier, struct session *session, const char *uri,
                                struct error *error);
CHECKED bool notifier_unsubscribe(struct notifier *notifier, struct session *session,
                                  const char *uri, struct error *error);
/* Subscribes a stream, until it is closed, to lists (bits of enum notifier_list) and to at most
 * SUBSCRIPTIONS_LIMIT resources, and first sends the message `first`. The client is notified of
 * every change that is reported after that. `meta` is the JSON text of the member _meta of each
 * notification. */
void notifier_listen(struct notifier *notifier, struct stream *stream, const struct text *first,
                     const char *meta, unsigned lists, const char *const *uris, size_t count);
/* Subscribes a stream, until it is closed, to tasks; a task has the id of its job. Each task is
 * sent in full, soon after this call and after each change. `base_url`: the address at which the
 * client reaches the pages. */
void notifier_listen_tasks(struct notifier *notifier, struct stream *stream, const char *meta,
                           const char *base_url, const char *const *ids, size_t count);

/* For a page: sends the names and ids of everything that changes, as JSON lists, until the
 * connection is closed. In a list, "*" means that anything may have changed. "*load" means that
 * metrics were scraped; it is sent at most every 5 s. `principal`, `session`, BUSY: as for
 * watchers_add. */
CHECKED bool notifier_watch(struct notifier *notifier, struct sse_queue *sse_queue,
                            const char *principal, const uint8_t session[DIGEST_BYTES],
                            struct error *error);
/* For sign_ins_listen: ends the streams of a browser that was signed out. The context is the
 * notifier. */
void notifier_unwatch(void *context, const uint8_t session[DIGEST_BYTES]);

/* The functions below report a change. Any thread can call them. Those with a `context`, which is
 * the notifier, are used as callbacks. A changed job also changes its sweep, the sweep's runs, and
 * their deployments. */
void notifier_job_moved(void *context, const char *job_id);
/* Notifies only pages, and does not tell them which deployment was scraped. */
void notifier_scraped(void *context, const char *deployment);
/* Reports a change to the resources whose URI has this name or id, such as a deployment's name. */
void notifier_resource_changed(struct notifier *notifier, const char *name);
void notifier_list_changed(struct notifier *notifier, unsigned lists);
/* Reports that a tool changed the list of resources and, unless `deployment` is "", the resources
 * of that deployment. */
void notifier_changed_by_tool(struct notifier *notifier, const char *deployment);
