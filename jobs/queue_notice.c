/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the message of a job that waits in line for an endpoint, and notifies the listener when
 * places in line have changed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/clock.h"
#include "base/core/log.h"
#include "base/core/memory.h"
#include "jobs/jobs_private.h"

static const char *ordinal_ending(size_t number)
{
    static const char *const endings[] = { "th", "st", "nd", "rd" };

    return number % 10 < 4 && number / 10 % 10 != 1 ? endings[number % 10] : endings[0];
}

/* Adds "held by alice for swp_1 since 03:12:44Z", or who gets the endpoint next. */
static void describe_first(const struct line_place *place, struct text *out)
{
    const struct endpoint_lease *first = &place->first;
    char when[CLOCK_TEXT_SIZE];

    clock_format_utc(first->granted_ms, when);
    if (first->granted_ms != 0)
        text_addf(out, "held by %.40s for %.60s since %.8sZ", first->principal, first->purpose,
                  when + strlen("2026-11-21T"));
    else if (place->place == 1)
        text_add(out, "this job gets it next");
    else
        text_addf(out, "%.40s gets it next, for %.60s", first->principal, first->purpose);
}

void queue_notice_describe(struct store *store, struct job *job)
{
    TEXT_AUTO message = { 0 };
    struct line_place place;
    struct error error;
    bool found = false;

    if (!job_line_place(store, job->id, &place, &found, &error))
        log_warning("cannot read the place in line of job %s: %s", job->id, error.message);
    if (!found)
        return;
    text_addf(&message, "waiting for endpoint %.80s: ", place.endpoint);
    describe_first(&place, &message);
    text_addf(&message, "; %zu%s in line", place.place, ordinal_ending(place.place));
    text_copy(job->message, sizeof job->message, text_string(&message));
}

static void notify_each(const struct endpoint_lease *rows, size_t count,
                        void (*listener)(void *context, const char *job_id), void *context)
{
    for (size_t i = 0; i < count; i++)
        if (rows[i].place > 0)
            listener(context, rows[i].job_id);
}

void job_pool_lines_moved(struct job_pool *jobs)
{
    FREE_AUTO struct endpoint_lease *rows = NULL;
    struct error error;
    size_t count;

    pthread_mutex_lock(&jobs->lock);
    jobs->moves++;
    pthread_cond_broadcast(&jobs->changed);
    void (*listener)(void *, const char *) = jobs->listener;
    void *context = jobs->listener_context;
    pthread_mutex_unlock(&jobs->lock);
    if (listener == NULL)
        return;
    if (endpoint_lease_list(jobs->store, &rows, &count, &error))
        notify_each(rows, count, listener, context);
    else
        log_warning("cannot announce that places in line have changed: %s", error.message);
}
