/* SPDX-License-Identifier: Apache-2.0 */
/* Lets a job ask a question without occupying a thread: the job goes back to the queue, and is not
 * claimed again until the question is answered or the job is cancelled. */
#include <stdlib.h>
#include <string.h>

#include "base/core/clock.h"
#include "base/core/memory.h"
#include "base/json/json.h"
#include "jobs/jobs_private.h"
#include "store/ledger/questions.h"

static const struct question_row *find_row(const struct question_row *rows, size_t count,
                                           const char *key)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(rows[i].key, key) == 0)
            return &rows[i];
    return NULL;
}

/* Reads the answers. *answers is NULL if at least one question is open, or was never asked. */
static CHECKED bool collect(const struct job_question *questions, size_t count,
                            const struct question_row *rows, size_t row_count, json_t **answers,
                            struct error *error)
{
    json_auto_t *found = json_object();
    json_t *answer;

    *answers = NULL;
    for (size_t i = 0; i < count; i++) {
        const struct question_row *row = find_row(rows, row_count, questions[i].key);

        if (row == NULL || row->answer == NULL)
            return true;
        if (!json_parse(row->answer, strlen(row->answer), &answer, error))
            return false;
        json_object_set_new(found, row->key, answer);
    }
    *answers = json_incref(found);
    return true;
}

static CHECKED bool find_answers(const struct job_run *run, const struct job_question *questions,
                                 size_t count, json_t **answers, struct error *error)
{
    struct question_row *rows;
    size_t row_count;
    bool done;

    if (!question_list(run->store, run->claim.job_id, &rows, &row_count, error))
        return false;
    done = collect(questions, count, rows, row_count, answers, error);
    question_rows_free(rows, row_count);
    return done;
}

static char *request_text(const struct job_question *question)
{
    json_auto_t *request =
        json_pack("{s:s, s:O}", "method", question->method, "params", question->params);

    return json_write(request);
}

static CHECKED bool store_questions(const struct job_run *run, const struct job_question *questions,
                                    size_t count, struct error *error)
{
    FREE_AUTO struct question_text *texts = memory_zeroed(count, sizeof *texts);
    FREE_AUTO char **requests = memory_zeroed(count, sizeof *requests);
    bool done;

    for (size_t i = 0; i < count; i++) {
        requests[i] = request_text(&questions[i]);
        texts[i] = (struct question_text){ questions[i].key, requests[i] };
    }
    done = question_add(run->store, &run->claim, texts, count, clock_utc_ms(), error);
    for (size_t i = 0; i < count; i++)
        free(requests[i]);
    return done;
}

/* Always fails, so that this run ends now. The job's next run asks the same questions again, and
 * then gets the answers. */
static CHECKED bool wait_without_thread(struct job_run *run, struct error *error)
{
    struct runner *runner = (struct runner *)run; /* `run` is its first member */

    pthread_mutex_lock(&run->jobs->lock);
    runner->asked = true;
    text_copy(runner->message, sizeof runner->message, "waiting for an answer");
    pthread_mutex_unlock(&run->jobs->lock);
    return error_set(error, ERROR_INPUT_REQUIRED, "job %s is waiting for an answer",
                     run->claim.job_id);
}

bool job_run_ask(struct job_run *run, const struct job_question *questions, size_t count,
                 json_t **answers, struct error *error)
{
    json_t *found = NULL;

    if (job_run_stop(run) != JOB_STOP_NO)
        return error_set(error, ERROR_CANCELLED,
                         "job %s was asked to stop, so it cannot ask a question",
                         run->claim.job_id);
    if (!find_answers(run, questions, count, &found, error))
        return false;
    if (found == NULL && !store_questions(run, questions, count, error))
        return false;
    if (found == NULL)
        return wait_without_thread(run, error);
    *answers = found;
    return true;
}

bool job_pool_answer(struct job_pool *jobs, const char *id, json_t *answers, struct change *change,
                     size_t *accepted, struct error *error)
{
    size_t count = json_object_size(answers), next = 0;
    FREE_AUTO struct answer_text *texts = memory_zeroed(count, sizeof *texts);
    FREE_AUTO char **written = memory_zeroed(count, sizeof *written);
    const char *key;
    json_t *answer;
    bool done;

    json_object_foreach(answers, key, answer) {
        written[next] = json_write(answer);
        texts[next] = (struct answer_text){ key, written[next] };
        next++;
    }
    done = question_answer(jobs->store, id, texts, count, clock_utc_ms(), change, accepted, error);
    for (size_t i = 0; i < count; i++)
        free(written[i]);
    if (!done || *accepted == 0)
        return done;
    job_pool_wake(jobs);
    job_pool_moved(jobs, id);
    return true;
}
