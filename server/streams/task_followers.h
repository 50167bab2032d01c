/* SPDX-License-Identifier: Apache-2.0 */
/* Streams that follow tasks (MCP's word for jobs). A stream receives a task's full state once at
 * the beginning, and again after the task has changed. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "handlers/resource.h"

struct error;
struct stream;
struct task_followers;

/* Finds a task. *out is a new reference to the full task, whose links begin with `base_url`. */
CHECKED typedef bool task_show(void *context, const char *id, const char *base_url, json_t **out,
                               struct error *error);
struct task_followers *task_followers_create(task_show *show, void *context);
void task_followers_destroy(struct task_followers *followers); /* NULL is fine */

/* Sends the tasks `ids` on the stream until the stream is closed. `meta` is the JSON text of the
 * member _meta in these messages. */
void task_followers_add(struct task_followers *followers, struct stream *stream, const char *meta,
                        const char *base_url, const char *const *ids, size_t count);
bool task_followers_any(const struct task_followers *followers);
/* Sends each task whose id is in `moved` (every followed task, if `all`) to the streams that follow
 * the task. Streams that were added since the last call are sent all tasks that they follow. */
void task_followers_notify(struct task_followers *followers,
                           const char (*moved)[INSTANCE_VALUE_SIZE], size_t count, bool all);
