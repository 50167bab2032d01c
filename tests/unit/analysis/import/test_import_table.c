/* SPDX-License-Identifier: Apache-2.0 */
/* Imports tables as people and spreadsheets write them: with various separators and number formats,
 * comments and totals between the rows, and words instead of figures. */
#include "analysis/audit/audit.h"
#include "tests/unit/support/imports.h"

static void read_table(const char *text, struct evidence *out)
{
    import_text(text, out);
    assert_string_equal(out->format, "csv");
}

/* Checks that the table has two rows, and that the second has 2 users, a context of 1024 tokens, a
 * mean latency of 250 ms and 8 requests/s. */
static void is_usual(const char *text)
{
    EVIDENCE_AUTO evidence;
    const struct evidence_cell *cell;

    read_table(text, &evidence);
    assert_int_equal(evidence.cell_count, 2);
    cell = &evidence.cells[1];
    assert_float_equal(cell->concurrency, 2, 1e-9);
    assert_float_equal(cell->input_length, 1024, 1e-9);
    assert_float_equal(cell->latency[METRIC_E2E].mean_ms, 250, 1e-9);
    assert_float_equal(cell->request_throughput, 8, 1e-9);
}

static void every_separator_and_line_end_is_read(void **state)
{
    (void)state;
    is_usual("users,input_len,avg_latency_ms,rps\n1,1024,200,5\n2,1024,250,8\n");
    is_usual("users;input_len;avg_latency_ms;rps\r\n1;1024;200;5\r\n2;1024;250;8\r\n");
    is_usual("users\tinput_len\tavg_latency_ms\trps\r1\t1024\t200\t5\r2\t1024\t250\t8\r");
    is_usual("| users | input_len | avg_latency_ms | rps |\n|---|:---:|---|---:|\n"
             "| 1 | 1024 | 200 | 5 |\n| 2 | 1024 | 250 | 8 |\n");
    is_usual("users, input_len , avg_latency_ms, rps\n 1 , 1024, 200, 5\n2 ,\t1024, 250 , 8\n");
}

static void a_token_count_is_per_request_only_if_the_figures_show_it(void **state)
{
    EVIDENCE_AUTO ambiguous, each;

    (void)state;
    is_usual("users,input_tokens,avg_latency_ms,rps\n1,1024,200,5\n2,1024,250,8\n");
    is_usual("users,requests,prompt_tokens,avg_latency_ms,rps\n1,40,1024,200,5\n2,80,1024,250,8\n");
    is_usual("users,input_tokens,context,avg_latency_ms,rps\n1,9,1024,200,5\n2,9,1024,250,8\n");
    read_table("users,requests,input_tokens,rps\n1,100,64,5\n2,100,64,8\n", &each);
    assert_float_equal(each.cells[1].input_length, 64, 0);
    assert_int_equal(each.input_unit, LENGTH_TOKENS);
    read_table("users,requests,input_tokens,rps\n1,10,1024,5\n1,10,2048,4\n2,10,1024,8\n"
               "2,10,2048,7\n",
               &ambiguous);
    assert_true(isnan(ambiguous.cells[0].input_length));
    assert_string_equal(ambiguous.cells[3].variant, "input_tokens=2048");
    remarks(&ambiguous, "of each request or of all");
}

static void text_around_and_between_the_rows_is_skipped(void **state)
{
    EVIDENCE_AUTO evidence;

    (void)state;
    is_usual("\n# a run, on Monday\nResults; all cells\n\nusers,input_len,avg_latency_ms,rps\n"
             "1,1024,200,5\n# then, two\n2,1024,250,8\n,,,\n");
    is_usual("users,input_len,avg_latency_ms,rps,\n1,1024,200,5,\n2,1024,250,8,,\n");
    read_table("note,users,rps\n\nx,1,5\nTotal,,13\nAverage:,1.5,6.5\ny,2,8\n", &evidence);
    assert_int_equal(evidence.cell_count, 2);
    assert_int_equal(evidence.cells[1].row, 6);
    remarks(&evidence, "line 4 is a summary of other lines (\"Total\"): skipped");
}

static void figures_are_read_in_many_notations(void **state)
{
    (void)state;
    is_usual("users,input_len,avg_latency_ms,rps\n1,1,1,1\nc=2,\"1,024\",250 ms,8 req/s\n");
    is_usual("users;input_len;avg_latency_s;rps\n1;1;1;1\n2 users;1024 tokens;0,25;8,0\n");
    is_usual("users,input_len,avg_latency_s,rps\n1,1,1,1\n2,1 024,250ms,+8.0e0\n");
    is_usual("users,input_len,avg_latency_us,rps\n1,1,1,1\n2,1k,250000,8\n");
    is_usual("users\tinput_len\tavg_latency_s\trps\n1\t1\t1\t1\n2\t1K tokens\t0,25\t8\n");
}

static void a_context_in_thousands_gets_a_remark_on_how_it_was_read(void **state)
{
    EVIDENCE_AUTO evidence;

    (void)state;
    read_table("users,context,rps\n1,8k,5\n1,10k,5\n1,8K words,4\n", &evidence);
    assert_float_equal(evidence.cells[0].input_length, 8192, 0);
    assert_float_equal(evidence.cells[1].input_length, 10000, 0);
    assert_int_equal(evidence.input_unit, LENGTH_WORDS);
    remarks(&evidence, "\"8k\" was read as 8192");
}

static void a_figure_in_the_wrong_unit_or_out_of_range_is_unknown(void **state)
{
    EVIDENCE_AUTO evidence;

    (void)state;
    read_table("users,input_len,rps,avg_latency_ms\n1,10 words,50%,12 furlongs\n2,10,3 ms,1e999\n",
               &evidence);
    assert_true(isnan(evidence.cells[0].input_length));
    assert_true(isnan(evidence.cells[0].request_throughput));
    assert_true(isnan(evidence.cells[0].latency[METRIC_E2E].mean_ms));
    assert_true(isnan(evidence.cells[1].request_throughput));
    assert_true(isnan(evidence.cells[1].latency[METRIC_E2E].mean_ms));
}

static void success_rates_are_read_from_percentages_and_failure_rates(void **state)
{
    static const char *const files[] = { "users,success_rate,rps\n1,97.5%,5\n2,100 %,8\n",
                                         "users,success_rate,rps\n1,97.5,5\n2,100,8\n",
                                         "users,error_rate,rps\n1,0.025,5\n2,0,8\n",
                                         "users,failure_rate (%),rps\n1,2.5,5\n2,0,8\n" };

    (void)state;
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        EVIDENCE_AUTO evidence;

        read_table(files[i], &evidence);
        assert_float_equal(evidence.cells[0].success_rate, 0.975, 1e-9);
        assert_float_equal(evidence.cells[1].success_rate, 1, 1e-9);
    }
}

static void a_column_that_says_what_it_counts_is_preferred(void **state)
{
    EVIDENCE_AUTO evidence, lengths;

    (void)state;
    read_table("users,throughput,request_throughput\n2,640,5\n4,990,8\n", &evidence);
    assert_float_equal(evidence.cells[0].request_throughput, 5, 0);
    assert_float_equal(evidence.cells[1].request_throughput, 8, 0);
    read_table("users,input_len,prompt_words,rps\n1,10,7,5\n2,10,7,8\n", &lengths);
    assert_int_equal(lengths.input_unit, LENGTH_TOKENS);
    assert_float_equal(lengths.cells[0].input_length, 10, 0);
}

static void impossible_success_rates_are_unknown(void **state)
{
    static const char *const files[] = { "users,success_rate,rps\n1,800,5\n2,-1,8\n",
                                         "users,failure_rate (%),rps\n1,250,5\n2,-3,8\n",
                                         "users,num_requests,num_success,rps\n1,8,80,5\n"
                                         "2,8,9,8\n" };

    (void)state;
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        EVIDENCE_AUTO evidence;

        read_table(files[i], &evidence);
        assert_true(isnan(evidence.cells[0].success_rate));
        assert_true(isnan(evidence.cells[1].success_rate));
        assert_int_equal(evidence.cells[0].state, EVIDENCE_MEASURED);
    }
}

static void a_row_without_figures_has_the_state_that_its_words_name(void **state)
{
    EVIDENCE_AUTO evidence;

    (void)state;
    read_table("users,rps,avg_latency_s\n1,OOM,OOM\n2,timeout,-\n4,skipped,\n8,N/A,#N/"
               "A\n16,\xe2\x80\x94,?\n"
               "32,5,error\n",
               &evidence);
    assert_int_equal(evidence.cells[0].state, EVIDENCE_FAILED);
    assert_string_equal(evidence.cells[0].status, "OOM");
    assert_int_equal(evidence.cells[1].state, EVIDENCE_FAILED);
    assert_int_equal(evidence.cells[2].state, EVIDENCE_SKIPPED);
    assert_int_equal(evidence.cells[3].state, EVIDENCE_UNKNOWN);
    assert_int_equal(evidence.cells[5].state, EVIDENCE_MEASURED);
    assert_null(evidence.remarks);
}

static void rows_that_describe_the_load_in_words_are_not_duplicates(void **state)
{
    EVIDENCE_AUTO evidence;
    FINDINGS_AUTO findings = { 0 };
    const struct audit_input input = { .evidence = &evidence, .chips = NAN };

    (void)state;
    read_table("users,output_len,rps\nlow,64,5\nmiddle,64,8\nhigh,64,9\n", &evidence);
    audit_run(&input, &findings);
    assert_int_equal(findings.count, 0);
}

static void the_meaning_of_a_rate_or_share_comes_from_its_heading(void **state)
{
    EVIDENCE_AUTO evidence;
    const struct evidence_cell *cell;

    (void)state;
    read_table(
        "conc,decode_tok_s,prefill_tps,total tokens/sec,Throughput (req/s),tokens_per_second,"
        "prefix_cache_hit_rate\n4,1,2,3,4,5,60%\n",
        &evidence);
    cell = &evidence.cells[0];
    assert_float_equal(cell->output_throughput, 1, 0);
    assert_float_equal(cell->input_throughput, 2, 0);
    assert_float_equal(cell->total_throughput, 3, 0);
    assert_float_equal(cell->request_throughput, 4, 0);
    assert_float_equal(cell->token_throughput, 5, 0);
    assert_float_equal(cell->cached_share, 0.6, 1e-9);
}

static void limits_of_the_deployment_are_read_as_facts(void **state)
{
    EVIDENCE_AUTO evidence;

    (void)state;
    read_table("users,rps,container_concurrency,max_instances,max_model_len\n1,5,4,3,8192\n"
               "8,5,4,2,8192\n",
               &evidence);
    assert_float_equal(evidence.facts.container_concurrency, 4, 0);
    assert_true(isnan(evidence.facts.max_instances));
    assert_float_equal(evidence.facts.context_limit_tokens, 8192, 0);
    remarks(&evidence, "the rows differ in \"max_instances\"");
}

static void a_heading_of_several_lines_is_refused(void **state)
{
    (void)state;
    refuses("Run Info,Run Info,Request Counts,Request Counts,Request Counts,Request Latency,"
            "Request Latency\n"
            "Run ID,Requests,Successful,Errored,Total,Successful Sec,Successful Sec\n"
            ",,,,,Mean,Median\n"
            "a,b,10,0,10,0.08,0.08\n",
            "csv", "the heading has several lines");
}

static void a_table_without_rows_that_fit_its_heading_is_refused(void **state)
{
    (void)state;
    refuses("users,rps\n", "csv", "a heading but no rows below it");
    refuses("users,rps,note\n1,2\n2,3\n", "csv",
            "fits its heading of 3 fields: the last row has 2");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_token_count_is_per_request_only_if_the_figures_show_it),
        cmocka_unit_test(every_separator_and_line_end_is_read),
        cmocka_unit_test(text_around_and_between_the_rows_is_skipped),
        cmocka_unit_test(figures_are_read_in_many_notations),
        cmocka_unit_test(a_context_in_thousands_gets_a_remark_on_how_it_was_read),
        cmocka_unit_test(a_figure_in_the_wrong_unit_or_out_of_range_is_unknown),
        cmocka_unit_test(success_rates_are_read_from_percentages_and_failure_rates),
        cmocka_unit_test(a_column_that_says_what_it_counts_is_preferred),
        cmocka_unit_test(impossible_success_rates_are_unknown),
        cmocka_unit_test(a_row_without_figures_has_the_state_that_its_words_name),
        cmocka_unit_test(rows_that_describe_the_load_in_words_are_not_duplicates),
        cmocka_unit_test(the_meaning_of_a_rate_or_share_comes_from_its_heading),
        cmocka_unit_test(limits_of_the_deployment_are_read_as_facts),
        cmocka_unit_test(a_heading_of_several_lines_is_refused),
        cmocka_unit_test(a_table_without_rows_that_fit_its_heading_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
