/* SPDX-License-Identifier: Apache-2.0 */
/* Subscribers: sessions that subscribe to resources, and streams that listen to resources and to
 * changes of the lists of tools, prompts or resources. The notifier owns them. The caller must hold
 * the notifier's lock, except to create or destroy them, or where a comment says otherwise. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct resource;
struct session;
struct sessions;
struct stream;
struct subscribers;

#define SUBSCRIPTIONS_LIMIT 256 /* subscriptions of one session, or of one stream */

enum notifier_list { /* bits */
                     NOTIFIER_TOOLS = 1,
                     NOTIFIER_PROMPTS = 2,
                     NOTIFIER_RESOURCES = 4,
};

struct subscribers *subscribers_create(struct sessions *sessions,
                                       const struct resource *const *resources);
void subscribers_destroy(struct subscribers *subscribers); /* NULL is fine */

/* Whether anybody has subscribed to a resource. */
bool subscribers_any(const struct subscribers *subscribers);

/* False: the session already has SUBSCRIPTIONS_LIMIT subscriptions. */
bool subscribers_follow(struct subscribers *subscribers, struct session *session, const char *uri);
void subscribers_unfollow(struct subscribers *subscribers, const struct session *session,
                          const char *uri);
/* Subscribes a stream, as notifier_listen describes. */
void subscribers_listen(struct subscribers *subscribers, struct stream *stream, const char *meta,
                        unsigned lists, const char *const *uris, size_t count);

/* Returns whether the thing named by a subscription's URI has changed. `value` is the name or id in
 * the URI; "" if the URI has none. */
typedef bool subscription_match(const void *context, const char *value);
/* Notifies the streams that listen to one of the changed lists `lists` (bits of enum
 * notifier_list), and the subscribers of each resource for which `match` returns true. */
void subscribers_notify(struct subscribers *subscribers, unsigned lists, subscription_match *match,
                        const void *context);
/* Notifies every session of changed lists, because sessions cannot subscribe to lists. The caller
 * need not hold the lock. */
void subscribers_notify_sessions(const struct subscribers *subscribers, unsigned lists);
