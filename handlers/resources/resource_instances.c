/* SPDX-License-Identifier: Apache-2.0 */
#include "handlers/resource_instances.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/evidence/evidence.h"
#include "base/core/memory.h"
#include "handlers/answer.h"
#include "handlers/answers/run_index.h"
#include "handlers/answers/sweep_answer.h"

/* ---- Lists by time ---- */

static CHECKED bool read_time(const char *after, int64_t *out, struct error *error)
{
    *out = 0;
    if (after[0] == '\0' || text_to_integer(after, 1, INT64_MAX, out))
        return true;
    return resource_cursor_refuse(after, error);
}

static int64_t instance_changed_ms(const void *rows, size_t index)
{
    return ((const struct instance *)rows)[index].changed_ms;
}

/* Returns how many of the `count` instances belong on this page, and writes the cursor of the next
 * page, or "" if all of them belong on this one. `changed_ms` must still be the creation time, by
 * which the lists are sorted. */
static size_t end_page(const struct instance *rows, size_t count, size_t limit,
                       char next[INSTANCE_VALUE_SIZE])
{
    size_t shown = answer_page_length(count, limit, instance_changed_ms, rows);

    next[0] = '\0';
    if (shown > 0 && shown < count)
        snprintf(next, INSTANCE_VALUE_SIZE, "%" PRId64, rows[shown - 1].changed_ms);
    return shown;
}

static void set_changed(struct instance *instance, int64_t started_ms, int64_t finished_ms)
{
    if (started_ms > instance->changed_ms)
        instance->changed_ms = started_ms;
    if (finished_ms > instance->changed_ms)
        instance->changed_ms = finished_ms;
}

/* ---- Deployments ---- */

static CHECKED bool list_deployments(const struct services *services, const char *after,
                                     size_t limit, struct instance **out, size_t *count,
                                     char next[INSTANCE_VALUE_SIZE], struct error *error)
{
    FREE_AUTO struct deployment *rows = NULL;
    size_t found;

    if (after[0] != '\0' && !text_is_name(after))
        return resource_cursor_refuse(after, error);
    if (!deployment_list(services->store, after, limit + 1, &rows, &found, error))
        return false;
    *count = found < limit ? found : limit;
    *out = memory_zeroed(*count + 1, sizeof **out);
    for (size_t i = 0; i < *count; i++) {
        text_copy((*out)[i].value, sizeof(*out)[i].value, rows[i].name);
        snprintf((*out)[i].title, sizeof(*out)[i].title, "revision %" PRId64, rows[i].revision);
        (*out)[i].changed_ms = rows[i].changed_ms;
    }
    text_copy(next, INSTANCE_VALUE_SIZE, found > limit ? rows[limit - 1].name : "");
    return true;
}

static CHECKED bool find_deployment(const struct services *services, const char *value,
                                    struct error *error)
{
    struct deployment found;

    return deployment_find(services->store, value, &found, error);
}

const struct resource_instances deployment_instances = { "deployment", list_deployments,
                                                         find_deployment };

/* ---- Sweeps ---- */

static CHECKED bool list_sweeps(const struct services *services, const char *after, size_t limit,
                                struct instance **out, size_t *count,
                                char next[INSTANCE_VALUE_SIZE], struct error *error)
{
    struct sweep_row *rows = NULL;
    int64_t before_ms;
    size_t found;

    if (!read_time(after, &before_ms, error)
        || !sweep_list(services->store, NULL, before_ms, limit + 1, &rows, &found, error))
        return false;
    *out = memory_zeroed(found + 1, sizeof **out);
    for (size_t i = 0; i < found; i++) {
        text_copy((*out)[i].value, sizeof(*out)[i].value, rows[i].id);
        snprintf((*out)[i].title, sizeof(*out)[i].title, "of %s, %s", rows[i].deployment,
                 rows[i].state);
        (*out)[i].changed_ms = rows[i].created_ms;
    }
    *count = end_page(*out, found, limit, next);
    for (size_t i = 0; i < *count; i++)
        set_changed(&(*out)[i], rows[i].started_ms, rows[i].finished_ms);
    sweep_answer_rows_free(rows, found);
    return true;
}

static CHECKED bool find_sweep(const struct services *services, const char *value,
                               struct error *error)
{
    struct sweep_row found;

    if (!sweep_find(services->store, value, &found, error))
        return false;
    sweep_row_finish(&found);
    return true;
}

const struct resource_instances sweep_instances = { "sweep", list_sweeps, find_sweep };

/* ---- Runs ---- */

static void describe_run(const struct any_run *row, struct instance *out)
{
    text_copy(out->value, sizeof out->value, row->id);
    if (row->import != NULL)
        snprintf(out->title, sizeof out->title, "imported, %s format", row->import->format);
    else
        snprintf(out->title, sizeof out->title, "of %s, repetition %" PRId64 ", %s",
                 row->run->deployment, row->run->repetition + 1, row->run->sweep_state);
    out->changed_ms = row->created_ms;
}

static CHECKED bool list_runs(const struct services *services, const char *after, size_t limit,
                              struct instance **out, size_t *count, char next[INSTANCE_VALUE_SIZE],
                              struct error *error)
{
    struct run_index all;
    int64_t before_ms;

    if (!read_time(after, &before_ms, error)
        || !run_index_list(services->store, NULL, NULL, before_ms, limit + 1, &all, error))
        return false;
    *out = memory_zeroed(all.count + 1, sizeof **out);
    for (size_t i = 0; i < all.count; i++)
        describe_run(&all.rows[i], &(*out)[i]);
    *count = end_page(*out, all.count, limit, next);
    for (size_t i = 0; i < *count; i++)
        if (all.rows[i].run != NULL)
            set_changed(&(*out)[i], 0, all.rows[i].run->finished_ms);
    run_index_finish(&all);
    return true;
}

static CHECKED bool find_import(const struct services *services, const char *value,
                                struct error *error)
{
    struct import_row found;

    if (!import_find(services->store, value, &found, error))
        return false;
    import_row_finish(&found);
    return true;
}

static CHECKED bool find_run(const struct services *services, const char *value,
                             struct error *error)
{
    struct run_row found;

    if (evidence_is_import(value))
        return find_import(services, value, error);
    if (!run_find(services->store, value, &found, error))
        return false;
    run_row_finish(&found);
    return true;
}

const struct resource_instances run_instances = { "run", list_runs, find_run };

/* ---- Jobs ---- */

static CHECKED bool list_jobs(const struct services *services, const char *after, size_t limit,
                              struct instance **out, size_t *count, char next[INSTANCE_VALUE_SIZE],
                              struct error *error)
{
    FREE_AUTO struct job *rows = NULL;
    struct job_filter filter = { .state = -1 };
    size_t found;

    if (!read_time(after, &filter.before_ms, error)
        || !job_list(services->store, &filter, limit + 1, &rows, &found, error))
        return false;
    *out = memory_zeroed(found + 1, sizeof **out);
    for (size_t i = 0; i < found; i++) {
        text_copy((*out)[i].value, sizeof(*out)[i].value, rows[i].id);
        snprintf((*out)[i].title, sizeof(*out)[i].title, "%s, %s", rows[i].kind,
                 job_state_name(rows[i].state));
        (*out)[i].changed_ms = rows[i].created_ms;
    }
    *count = end_page(*out, found, limit, next);
    for (size_t i = 0; i < *count; i++)
        set_changed(&(*out)[i], rows[i].started_ms, rows[i].finished_ms);
    return true;
}

static CHECKED bool find_job(const struct services *services, const char *value,
                             struct error *error)
{
    struct job found;

    return job_find(services->store, value, &found, error);
}

const struct resource_instances job_instances = { "job", list_jobs, find_job };
