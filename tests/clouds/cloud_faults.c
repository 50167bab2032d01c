/* SPDX-License-Identifier: Apache-2.0 */
/* cloud_faults [PROVIDER]: runs every verb of every provider, or only of PROVIDER, against the
 * provider's fake, with each fault at each request of the verb (the comment on first_of() has the
 * exceptions). Prints a table for each provider: how many runs there were with each fault and verb
 * or, if some of them failed, how many of them did. Several processes share the work, since most of
 * it is waiting. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/clouds/trial_faults.h"

#define PROCESSES 20
#define FAULTS_MAX 40
#define WRONG_MAX 200

struct cell {
    int good, bad;
};

/* This is in memory that the processes share; the counts are changed atomically. */
struct results {
    struct cell cells[VERB_COUNT][FAULTS_MAX];
    int wrong_count;
    char wrong[WRONG_MAX][700];
};

struct work {
    const struct trial *trial;
    struct results *results;
    int process;
    struct trial_rig rig;
};

/* Counts a run, which was good if `problem` is NULL. Frees `problem`. */
static void record_take(struct work *work, enum provider_verb verb, size_t fault, int at,
                        char *problem)
{
    struct cell *cell = &work->results->cells[verb][fault];
    int line;

    __atomic_add_fetch(problem == NULL ? &cell->good : &cell->bad, 1, __ATOMIC_RELAXED);
    if (problem == NULL)
        return;
    line = __atomic_fetch_add(&work->results->wrong_count, 1, __ATOMIC_RELAXED);
    if (line < WRONG_MAX)
        snprintf(work->results->wrong[line], sizeof work->results->wrong[line],
                 "FAIL  %s %s, %s at request %d: %s", work->trial->target.provider,
                 provider_verb_name(verb), trial_faults()[fault].fault.name, at, problem);
    free(problem);
}

/* A fault is tried at the requests from first_of() to last_of(): at all requests of a verb or, if
 * the fault takes a minute, only at the middle one. A condition, which lasts for the whole verb, is
 * tried once, if the fake has it. */
static int first_of(const struct trial_fault *fault, int requests)
{
    return fault->takes_minute ? (requests + 1) / 2 : 1;
}

static int last_of(const struct trial_fault *fault, int requests)
{
    return fault->is_condition ? 1 : fault->takes_minute ? (requests + 1) / 2 : requests;
}

static void run_verb(struct work *work, enum provider_verb verb)
{
    const struct trial_fault *faults = trial_faults();
    struct trial_reference reference;
    int turn = 0;

    trial_reference_measure(&work->rig, verb, &reference);
    for (size_t i = 0; faults[i].fault.name != NULL; i++) {
        if (faults[i].is_condition
            && !work->rig.site.trial->set(&work->rig.site, faults[i].fault.name))
            continue;
        for (int at = first_of(&faults[i], reference.requests);
             at <= last_of(&faults[i], reference.requests); at++)
            if (turn++ % PROCESSES == work->process)
                record_take(work, verb, i, at,
                            trial_fault_run(&work->rig, verb, &reference, &faults[i], at));
    }
    trial_reference_finish(&reference);
}

static void run_process(struct work *work)
{
    unsigned verbs = provider_find(work->trial->target.provider)->verbs;

    trial_rig_open(&work->rig, work->trial);
    for (enum provider_verb verb = VERB_CREATE; verb < VERB_COUNT; verb++)
        if ((verbs & VERB_BIT(verb)) != 0)
            run_verb(work, verb);
    trial_rig_close(&work->rig);
}

static void print_row(const struct results *results, size_t fault, unsigned verbs)
{
    printf("%-24s", trial_faults()[fault].fault.name);
    for (enum provider_verb verb = VERB_CREATE; verb < VERB_COUNT; verb++) {
        const struct cell *cell = &results->cells[verb][fault];

        if ((verbs & VERB_BIT(verb)) == 0)
            continue;
        if (cell->good + cell->bad == 0)
            printf("%9s", "-");
        else if (cell->bad == 0)
            printf("%9d", cell->good);
        else
            printf("   %d of %d", cell->bad, cell->good + cell->bad);
    }
    printf("\n");
}

/* Returns the number of runs that failed. */
static int print(const struct trial *trial, const struct results *results)
{
    unsigned verbs = provider_find(trial->target.provider)->verbs;
    int good = 0;

    printf("\n%-24s", trial->target.provider);
    for (enum provider_verb verb = VERB_CREATE; verb < VERB_COUNT; verb++)
        if ((verbs & VERB_BIT(verb)) != 0)
            printf("%9s", provider_verb_name(verb));
    printf("\n");
    for (size_t i = 0; trial_faults()[i].fault.name != NULL; i++)
        print_row(results, i, verbs);
    for (int i = 0; i < results->wrong_count && i < WRONG_MAX; i++)
        printf("%s\n", results->wrong[i]);
    for (enum provider_verb verb = VERB_CREATE; verb < VERB_COUNT; verb++)
        for (size_t i = 0; i < FAULTS_MAX; i++)
            good += results->cells[verb][i].good;
    printf("%s  %s: %d runs with a fault, %d wrong\n", results->wrong_count == 0 ? "ok  " : "FAIL",
           trial->target.provider, good + results->wrong_count, results->wrong_count);
    return results->wrong_count;
}

static volatile sig_atomic_t stopped; /* set by SIGTERM: then the results so far are printed */

static void stop(int signal)
{
    stopped = signal;
}

/* Waits for the child; kills it if SIGTERM interrupts the wait. Returns the child's wait status: 0
 * if it succeeded. */
static int wait_for_child(pid_t child)
{
    int status = 0;

    while (waitpid(child, &status, 0) != child)
        if (stopped)
            kill(child, SIGKILL);
    return status;
}

static int try(const struct trial *trial)
{
    struct results *results =
        mmap(NULL, sizeof *results, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t children[PROCESSES];
    int wrong = 0;

    if (results == MAP_FAILED)
        abort();
    fflush(stdout);
    for (int i = 0; i < PROCESSES; i++) {
        struct work work = { .trial = trial, .results = results, .process = i };

        children[i] = fork();
        if (children[i] == 0) {
            signal(SIGTERM, SIG_DFL);
            run_process(&work);
            _exit(0);
        }
    }
    for (int i = 0; i < PROCESSES; i++) {
        int status = wait_for_child(children[i]);

        if (status != 0 && !stopped) {
            printf("FAIL  %s: process %d ended with the wait status %d\n", trial->target.provider,
                   i, status);
            wrong++;
        }
    }
    wrong += print(trial, results) + (stopped != 0);
    if (stopped)
        printf("FAIL  %s: stopped before the end\n", trial->target.provider);
    munmap(results, sizeof *results);
    return wrong;
}

int main(int count, char **arguments)
{
    const struct sigaction action = { .sa_handler = stop };
    int wrong = 0, status = 0;

    if (trial_main(count, arguments, &status))
        return status;
    sigaction(SIGTERM, &action, NULL);
    for (const struct trial *trial = trial_all(); trial->recipe != NULL && !stopped; trial++)
        if (count < 2 || strcmp(arguments[1], trial->target.provider) == 0)
            wrong += try(trial);
    return wrong == 0 ? 0 : 1;
}
