/* SPDX-License-Identifier: Apache-2.0 */
#include "server/streams/subscribers.h"

#include <stdlib.h>
#include <string.h>

#include "base/core/memory.h"
#include "base/json/json.h"
#include "handlers/resource.h"
#include "server/streams/session.h"
#include "server/streams/stream.h"

struct subscription {
    char *uri;
    char value[INSTANCE_VALUE_SIZE]; /* the name or id in the URI; "" if the URI has none */
};

struct subscriber {
    struct subscriber *next;
    struct session *session; /* a reference; NULL: the subscriber is a stream */
    struct stream *stream;   /* a reference; NULL: the subscriber is a session */
    char *meta;
    unsigned lists;
    struct subscription *subscriptions;
    size_t count;
};

struct subscribers {
    struct sessions *sessions;
    const struct resource *const *known_resources;
    struct subscriber *first;
    size_t subscription_count; /* of all subscribers together */
};

struct subscribers *subscribers_create(struct sessions *sessions,
                                       const struct resource *const *known_resources)
{
    struct subscribers *subscribers = memory_zeroed(1, sizeof *subscribers);

    subscribers->sessions = sessions;
    subscribers->known_resources = known_resources;
    return subscribers;
}

static void subscriber_free(struct subscriber *subscriber)
{
    for (size_t i = 0; i < subscriber->count; i++)
        free(subscriber->subscriptions[i].uri);
    free(subscriber->subscriptions);
    free(subscriber->meta);
    session_release(subscriber->session);
    stream_release(subscriber->stream);
    free(subscriber);
}

void subscribers_destroy(struct subscribers *subscribers)
{
    if (subscribers == NULL)
        return;
    while (subscribers->first != NULL) {
        struct subscriber *next = subscribers->first->next;

        subscriber_free(subscribers->first);
        subscribers->first = next;
    }
    free(subscribers);
}

bool subscribers_any(const struct subscribers *subscribers)
{
    return subscribers->subscription_count > 0;
}

static bool is_gone(const struct subscriber *subscriber)
{
    return subscriber->session != NULL ? session_is_over(subscriber->session)
                                       : !stream_is_open(subscriber->stream);
}

static void forget_gone(struct subscribers *subscribers)
{
    struct subscriber **at = &subscribers->first;

    while (*at != NULL) {
        struct subscriber *subscriber = *at;

        if (!is_gone(subscriber)) {
            at = &subscriber->next;
            continue;
        }
        *at = subscriber->next;
        subscribers->subscription_count -= subscriber->count;
        subscriber_free(subscriber);
    }
}

static struct subscriber *add_subscriber(struct subscribers *subscribers)
{
    struct subscriber *subscriber = memory_zeroed(1, sizeof *subscriber);

    subscriber->next = subscribers->first;
    subscribers->first = subscriber;
    return subscriber;
}

static struct subscriber *find_subscriber(struct subscribers *subscribers,
                                          const struct session *session)
{
    struct subscriber *subscriber = subscribers->first;

    while (subscriber != NULL && subscriber->session != session)
        subscriber = subscriber->next;
    return subscriber;
}

static struct subscription *find_subscription(struct subscriber *subscriber, const char *uri)
{
    for (size_t i = 0; i < subscriber->count; i++)
        if (strcmp(subscriber->subscriptions[i].uri, uri) == 0)
            return &subscriber->subscriptions[i];
    return NULL;
}

static void add_subscription(struct subscribers *subscribers, struct subscriber *subscriber,
                             const char *uri)
{
    const struct resource *resource;
    struct subscription *added;
    struct error unknown; /* set if the URI is one that only an earlier version supported */

    if (find_subscription(subscriber, uri) != NULL)
        return;
    subscriber->subscriptions = memory_resize(subscriber->subscriptions, subscriber->count + 1,
                                              sizeof *subscriber->subscriptions);
    added = &subscriber->subscriptions[subscriber->count++];
    *added = (struct subscription){ .uri = memory_copy_text(uri) };
    if (!resource_match(subscribers->known_resources, uri, &resource, added->value, &unknown))
        added->value[0] = '\0';
    subscribers->subscription_count++;
}

bool subscribers_follow(struct subscribers *subscribers, struct session *session, const char *uri)
{
    struct subscriber *subscriber;

    forget_gone(subscribers);
    subscriber = find_subscriber(subscribers, session);
    if (subscriber == NULL) {
        subscriber = add_subscriber(subscribers);
        subscriber->session = session_retain(session);
    }
    if (find_subscription(subscriber, uri) == NULL && subscriber->count == SUBSCRIPTIONS_LIMIT)
        return false;
    add_subscription(subscribers, subscriber, uri);
    return true;
}

void subscribers_unfollow(struct subscribers *subscribers, const struct session *session,
                          const char *uri)
{
    struct subscriber *subscriber = find_subscriber(subscribers, session);
    struct subscription *found = subscriber == NULL ? NULL : find_subscription(subscriber, uri);

    if (found == NULL)
        return;
    free(found->uri);
    *found = subscriber->subscriptions[--subscriber->count];
    subscribers->subscription_count--;
}

void subscribers_listen(struct subscribers *subscribers, struct stream *stream, const char *meta,
                        unsigned lists, const char *const *uris, size_t count)
{
    struct subscriber *subscriber;

    forget_gone(subscribers);
    subscriber = add_subscriber(subscribers);
    subscriber->stream = stream_retain(stream);
    subscriber->meta = memory_copy_text(meta);
    subscriber->lists = lists;
    for (size_t i = 0; i < count && i < SUBSCRIPTIONS_LIMIT; i++)
        add_subscription(subscribers, subscriber, uris[i]);
}

/* ---- Notifying ---- */

static void push(const struct subscriber *subscriber, const char *method, const char *uri)
{
    TEXT_AUTO json = { 0 };

    text_addf(&json, "{\"jsonrpc\":\"2.0\",\"method\":\"%s\",\"params\":{", method);
    if (subscriber->meta != NULL)
        text_addf(&json, "\"_meta\":%s%s", subscriber->meta, uri != NULL ? "," : "");
    if (uri != NULL) {
        text_add(&json, "\"uri\":");
        json_add_string(&json, uri, strlen(uri));
    }
    text_add(&json, "}}");
    if (subscriber->session != NULL)
        session_notify(subscriber->session, text_string(&json), json.length);
    else
        stream_push(subscriber->stream, text_string(&json), json.length);
}

static const struct {
    unsigned list;
    const char *method;
} list_methods[] = {
    { NOTIFIER_TOOLS, "notifications/tools/list_changed" },
    { NOTIFIER_PROMPTS, "notifications/prompts/list_changed" },
    { NOTIFIER_RESOURCES, "notifications/resources/list_changed" },
};

static void notify(const struct subscriber *subscriber, unsigned lists, subscription_match *match,
                   const void *context)
{
    for (size_t i = 0; i < sizeof list_methods / sizeof *list_methods; i++)
        if ((subscriber->lists & lists & list_methods[i].list) != 0)
            push(subscriber, list_methods[i].method, NULL);
    for (size_t i = 0; i < subscriber->count; i++)
        if (match(context, subscriber->subscriptions[i].value))
            push(subscriber, "notifications/resources/updated", subscriber->subscriptions[i].uri);
}

void subscribers_notify(struct subscribers *subscribers, unsigned lists, subscription_match *match,
                        const void *context)
{
    forget_gone(subscribers);
    for (struct subscriber *at = subscribers->first; at != NULL; at = at->next)
        notify(at, lists, match, context);
}

void subscribers_notify_sessions(const struct subscribers *subscribers, unsigned lists)
{
    for (size_t i = 0; i < sizeof list_methods / sizeof *list_methods; i++) {
        TEXT_AUTO json = { 0 };

        if ((lists & list_methods[i].list) == 0)
            continue;
        text_addf(&json, "{\"jsonrpc\":\"2.0\",\"method\":\"%s\"}", list_methods[i].method);
        sessions_notify(subscribers->sessions, text_string(&json), json.length);
    }
}
