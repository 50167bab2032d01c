/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "client/command/wording.h"

static void tools_in_answers_become_commands(void **state)
{
    static const struct {
        const char *given, *shown;
    } cases[] = {
        { "Next: job_show with this job and wait_s 600, then run_report.\n",
          "Next: opsbrain job with this job and --wait-s 600, then opsbrain report.\n" },
        { "Next: sweep_start with this plan_digest.",
          "Next: opsbrain bench with this --plan-digest." },
        { "Next: sweep_cancel, opsbrain job_list", "Next: opsbrain sweep-cancel, opsbrain jobs" },
        { "the plan: input_tokens=[128] (sweep_plan)",
          "the plan: input_tokens=[128] (opsbrain plan)" },
        { "- run_list\n> run_list\n| run_list |\n", "- opsbrain runs\n> run_list\n| run_list |\n" },
        { "opsbrain://arguments/run_list /tmp/run_list run_list.json x-run_list run_listed",
          "opsbrain://arguments/run_list /tmp/run_list run_list.json x-run_list run_listed" },
        { "If you know that these facts are equal: accept_unknown [\"hardware\", \"chips\"]\n",
          "If you know that these facts are equal: --accept-unknown hardware,chips\n" },
        { "Next: accept_unknown [\"hardware\n", "Next: --accept-unknown [\"hardware\n" },
        { "", "" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        TEXT_AUTO out = { 0 };

        wording_add_answer(cases[i].given, &out);
        assert_string_equal(text_string(&out), cases[i].shown);
    }
}

static void parameters_in_error_messages_become_flags(void **state)
{
    static const struct {
        const char *tool, *given, *shown;
    } cases[] = {
        { "job_list", "\"limit\" is \"many\": it must be a whole number",
          "--limit is \"many\": it must be a whole number" },
        { "deployment_remove", "call again with \"confirm\": \"demo\"",
          "call again with --confirm demo" },
        { "deployment_remove", "call again with \"confirm\": \"two words\"",
          "call again with --confirm: \"two words\"" },
        { "job_list", "no job \"confirm\"", "no job \"confirm\"" },
        { "job_list", "\"limit", "\"limit" },
        { "sweep_plan", "sweep_plan takes no argument \"x\"; it takes deployment, candidate",
          "opsbrain plan takes no argument \"x\": opsbrain help plan shows what it takes" },
        { "sweep_cancel", "sweep_cancel takes no argument \"x\"; it takes sweep",
          "opsbrain sweep-cancel takes no argument \"x\": opsbrain help sweep-cancel shows what it "
          "takes" },
        { NULL, "\"limit\" is wrong: job_list", "\"limit\" is wrong: opsbrain jobs" },
        { "later_tool", "give input_tokens; it takes more", "give --input-tokens; it takes more" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        TEXT_AUTO out = { 0 };

        wording_add_refusal(cases[i].given, cases[i].tool, &out);
        assert_string_equal(text_string(&out), cases[i].shown);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tools_in_answers_become_commands),
        cmocka_unit_test(parameters_in_error_messages_become_flags),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
