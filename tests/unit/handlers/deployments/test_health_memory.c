/* SPDX-License-Identifier: Apache-2.0 */
/* Tests which callers query the model about its health, and which get the stored answer. Viewers
 * take turns: only the one that has the turn queries the model. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "base/json/json.h"
#include "handlers/deployments/health_memory.h"

#define CALLERS 8

static const struct deployment demo = { .id = 1, .revision = 1 };

static bool not_cancelled(void *context)
{
    (void)context;
    return false;
}

static bool is_cancelled(void *context)
{
    (void)context;
    return true;
}

static struct answer answer_with_status(const char *status)
{
    struct answer answer = { .structured = json_pack("{s:s}", "status", status) };

    text_add(&answer.text, status);
    return answer;
}

static enum health_turn get_turn(struct health_memory *memory, const struct deployment *deployment,
                                 const char *expected)
{
    struct answer answer = { 0 };
    double age_s = -1;
    enum health_turn turn =
        health_memory_get(memory, deployment, not_cancelled, NULL, &answer, &age_s);

    if (turn == HEALTH_KNOWN) {
        assert_string_equal(json_get_text(answer.structured, "status", ""), expected);
        assert_string_equal(text_string(&answer.text), expected);
        assert_true(age_s >= 0 && age_s < HEALTH_KEPT_S);
    }
    answer_finish(&answer);
    return turn;
}

static void set_status(struct health_memory *memory, const struct deployment *deployment,
                       const char *status)
{
    struct answer answer = answer_with_status(status);

    health_memory_set(memory, deployment, &answer);
    answer_finish(&answer);
}

static void an_answer_is_kept_for_its_deployment_and_revision(void **state)
{
    struct health_memory *memory = health_memory_create();
    const struct deployment changed = { .id = 1, .revision = 2 },
                            other = { .id = 2, .revision = 1 };

    (void)state;
    assert_int_equal(get_turn(memory, &demo, NULL), HEALTH_ASK);
    set_status(memory, &demo, "PASSED");
    health_memory_end_turn(memory, &demo);
    assert_int_equal(get_turn(memory, &demo, "PASSED"), HEALTH_KNOWN);
    set_status(memory, &demo, "FAILED"); /* by an operator, who needs no turn */
    assert_int_equal(get_turn(memory, &demo, "FAILED"), HEALTH_KNOWN);
    assert_int_equal(get_turn(memory, &changed, NULL), HEALTH_ASK);
    assert_int_equal(get_turn(memory, &other, NULL), HEALTH_ASK);
    health_memory_destroy(memory);
}

static void an_operators_answer_does_not_end_a_viewers_turn(void **state)
{
    struct health_memory *memory = health_memory_create();
    struct answer answer = { 0 };
    double age_s;

    (void)state;
    assert_int_equal(get_turn(memory, &demo, NULL), HEALTH_ASK);
    set_status(memory, &demo, "PASSED"); /* the operator's; it is still the viewer's turn */
    assert_int_equal(health_memory_get(memory, &demo, is_cancelled, NULL, &answer, &age_s),
                     HEALTH_CANCELLED);
    health_memory_end_turn(memory, &demo);
    assert_int_equal(get_turn(memory, &demo, "PASSED"), HEALTH_KNOWN);
    health_memory_destroy(memory);
}

static void a_waiting_caller_can_be_cancelled_and_a_failed_turn_passes_to_the_next(void **state)
{
    struct health_memory *memory = health_memory_create();
    struct answer answer = { 0 };
    double age_s;

    (void)state;
    assert_int_equal(get_turn(memory, &demo, NULL), HEALTH_ASK);
    assert_int_equal(health_memory_get(memory, &demo, is_cancelled, NULL, &answer, &age_s),
                     HEALTH_CANCELLED);
    health_memory_end_turn(memory, &demo); /* without an answer */
    assert_int_equal(get_turn(memory, &demo, NULL), HEALTH_ASK);
    health_memory_destroy(memory);
}

struct caller {
    pthread_t thread;
    struct health_memory *memory;
    atomic_int *asked;
};

static void *ask_health(void *context)
{
    struct caller *caller = context;

    if (get_turn(caller->memory, &demo, "PASSED") == HEALTH_ASK) {
        atomic_fetch_add(caller->asked, 1);
        usleep(20000); /* how long the model takes to answer */
        set_status(caller->memory, &demo, "PASSED");
        health_memory_end_turn(caller->memory, &demo);
    }
    return NULL;
}

static void only_one_of_many_concurrent_callers_queries_the_model(void **state)
{
    struct health_memory *memory = health_memory_create();
    struct caller callers[CALLERS];
    atomic_int asked = 0;

    (void)state;
    for (size_t i = 0; i < CALLERS; i++) {
        callers[i] = (struct caller){ .memory = memory, .asked = &asked };
        assert_int_equal(pthread_create(&callers[i].thread, NULL, ask_health, &callers[i]), 0);
    }
    for (size_t i = 0; i < CALLERS; i++)
        pthread_join(callers[i].thread, NULL);
    assert_int_equal(asked, 1);
    health_memory_destroy(memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_answer_is_kept_for_its_deployment_and_revision),
        cmocka_unit_test(an_operators_answer_does_not_end_a_viewers_turn),
        cmocka_unit_test(a_waiting_caller_can_be_cancelled_and_a_failed_turn_passes_to_the_next),
        cmocka_unit_test(only_one_of_many_concurrent_callers_queries_the_model),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
