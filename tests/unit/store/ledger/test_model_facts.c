/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/support/ledger.h"

static void adds_a_row_only_if_the_facts_differ(void **state)
{
    struct ledger *ledger = *state;
    struct deployment deployment = ledger_deployment(ledger, "a");
    struct model_facts facts = { .deployment_id = deployment.id, .revision = 1, .observed_ms = 10 };
    struct model_facts latest;
    bool found;

    assert_ok(ledger,
              model_facts_latest(ledger->store, deployment.id, &latest, &found, &ledger->error));
    assert_false(found);
    strcpy(facts.model, "gemma");
    facts.context_tokens = 8192;
    assert_ok(ledger, model_facts_note(ledger->store, &facts, &ledger->error));
    facts.observed_ms = 20;
    assert_ok(ledger, model_facts_note(ledger->store, &facts, &ledger->error));
    assert_ok(ledger,
              model_facts_latest(ledger->store, deployment.id, &latest, &found, &ledger->error));
    assert_true(found);
    assert_int_equal(latest.observed_ms, 10);
    assert_int_equal(latest.context_tokens, 8192);
    assert_string_equal(latest.details, "{}");
    facts.context_tokens = 0;
    facts.observed_ms = 30;
    assert_ok(ledger, model_facts_note(ledger->store, &facts, &ledger->error));
    assert_ok(ledger,
              model_facts_latest(ledger->store, deployment.id, &latest, &found, &ledger->error));
    assert_int_equal(latest.observed_ms, 30);
    assert_int_equal(latest.context_tokens, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(adds_a_row_only_if_the_facts_differ),
    };

    return ledger_run(tests);
}
