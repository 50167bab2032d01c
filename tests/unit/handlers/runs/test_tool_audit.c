/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of run_audit with files from other tools. */
#include <dirent.h>

#include "handlers/runs/import_keep.h"
#include "tests/unit/support/tool_sweeps.h"

/* According to request rate times latency, at most ten users were active on average. In the cell
 * with 64 users, requests failed at a timeout of 60 s. */
#define GRID                                                                                       \
    "context_size,concurrency,success_rate,avg_latency,p95_latency,req_per_sec,total_time,"        \
    "num_success,num_failure\n"                                                                    \
    "128,1,1.0,0.5,0.6,2.0,100,200,0\n"                                                            \
    "128,16,1.0,1.0,1.2,10.0,100,1000,0\n"                                                         \
    "128,64,0.9,30,59.9,0.33,120,90,10\n"

static void import(struct world *world, const char *bytes, size_t length, const char *name,
                   char out[ID_SIZE])
{
    json_auto_t *nothing = json_object();
    struct import_offer offer = {
        .bytes = bytes, .length = length, .name = name, .stated = nothing
    };
    struct change change = { .actor = { "alice", "operator", "test/1", "req_1" },
                             .tool = "run_import",
                             .arguments = "{}" };
    struct import_row row;
    bool existed;

    if (!import_offer_keep(world->services.store, &offer, clock_utc_ms(), &change, &row, &existed,
                           &world->error))
        fail_msg("%s: %s", name, world->error.message);
    snprintf(out, ID_SIZE, "%s", row.id);
    import_row_finish(&row);
}

static json_t *audit_with(struct world *world, const char *id, const char *more)
{
    TEXT_AUTO arguments = { 0 };

    text_addf(&arguments, "{\"run\":\"%s\"%s}", id, more);
    return world_ok(world, "run_audit", text_string(&arguments));
}

static const json_t *finding_of(const json_t *answer, const char *rule)
{
    const json_t *findings = json_object_get(answer, "findings"), *finding;
    size_t i;

    json_array_foreach(findings, i, finding)
        if (strcmp(json_get_text(finding, "rule", ""), rule) == 0)
            return finding;
    return NULL;
}

static void reports_what_is_wrong_with_an_import(void **state)
{
    struct world *world = *state;
    char id[ID_SIZE];
    json_auto_t *answer = NULL;
    const json_t *finding;

    import(world, GRID, strlen(GRID), "grid.csv", id);
    answer = audit_with(world, id, ",\"hardware\":\"L4\",\"model\":\"12B\"");
    assert_false(json_get_boolean(answer, "clean", true));
    assert_string_equal(json_get_text(answer, "hardware", ""), "NVIDIA L4");
    finding = finding_of(answer, "actual_load");
    assert_non_null(finding);
    assert_int_equal(json_integer_value(json_array_get(json_object_get(finding, "rows"), 0)), 3);
    assert_non_null(finding_of(answer, "censored_tail"));
    assert_non_null(finding_of(answer, "low_success"));
    world_says(world, "Do not compare cells with more than 1 user");
    world_refused(world, "run_audit", "{\"run\":\"imp_nobody\"}", ERROR_NOT_FOUND, "imp_nobody");
}

static void finds_cells_copied_from_another_import(void **state)
{
    struct world *world = *state;
    char first[ID_SIZE], second[ID_SIZE];
    static const char original[] = "concurrency,context_size,req_per_sec,avg_latency\n"
                                   "1,8,1.2345678,0.81\n1,16,1.2345679,0.82\n1,32,1.2345671,0.83\n";
    static const char copy[] = "concurrency,context_size,req_per_sec,avg_latency\n"
                               "1,8,1.2345678,0.81\n1,16,1.2345679,0.82\n1,32,1.2345671,0.83\n"
                               "1,64,1.2,0.9\n";
    json_auto_t *answer = NULL;

    import(world, original, strlen(original), "a.csv", first);
    import(world, copy, strlen(copy), "b.csv", second);
    answer = audit_with(world, second, "");
    assert_int_equal(json_get_integer(finding_of(answer, "identical_runs"), "cell_count", 0), 3);
    world_says(world, "to the last digit, in request rate and, if known, mean latency");
}

/* The test is skipped if the folder of published results is missing. */
static void finds_something_in_every_published_file(void **state)
{
    struct world *world = *state;
    const char *shared = getenv("OPSBRAIN_SHARED");
    char folder[512], path[1024];
    struct dirent *entry;
    size_t files = 0;
    DIR *listing;

    snprintf(folder, sizeof folder, "%s/data/published-results",
             shared != NULL ? shared : SOURCE_DIR "/../shared");
    listing = opendir(folder);
    if (listing == NULL) {
        print_message("skipped: there is no %s\n", folder);
        skip();
        return;
    }
    while ((entry = readdir(listing)) != NULL) {
        static char bytes[1 << 20];
        char id[ID_SIZE];
        json_auto_t *answer = NULL;
        FILE *file;

        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        file = fopen(path, "rb");
        assert_non_null(file);
        import(world, bytes, fread(bytes, 1, sizeof bytes, file), entry->d_name, id);
        fclose(file);
        answer = audit_with(world, id, "");
        if (json_get_boolean(answer, "clean", true))
            fail_msg("%s: nothing was found", entry->d_name);
        files++;
    }
    closedir(listing);
    assert_true(files > 0);
}

static bool contains_name(const json_t *list, const char *rule)
{
    const json_t *name;
    size_t i;

    json_array_foreach(list, i, name)
        if (strcmp(json_string_value(name), rule) == 0)
            return true;
    return false;
}

/* The file has only two columns, so several rules cannot be applied. */
static void says_which_rules_could_not_be_applied(void **state)
{
    static const char file[] = "concurrency,req_per_sec\n1,1.25\n2,2.5\n";
    struct world *world = *state;
    char id[ID_SIZE];
    json_auto_t *answer = NULL;
    const json_t *lacking, *group;
    bool found = false;
    size_t i;

    import(world, file, strlen(file), "two.csv", id);
    answer = audit_with(world, id, "");
    world_says(world, "Rules applied (");
    world_says(world, "Not applied for lack of numbers of successful requests: failed_speed, "
                      "low_success, all_failed, misnamed_failure.");
    world_says(world, "Not applied for lack of hardware, model and token rates: compute_roofline, "
                      "bandwidth_roofline.");
    assert_true(contains_name(json_object_get(answer, "applied"), "duplicate_cells"));
    assert_false(contains_name(json_object_get(answer, "applied"), "actual_load"));
    lacking = json_object_get(answer, "not_applied");
    json_array_foreach(lacking, i, group)
        found |= strcmp(json_get_text(group, "lacks", ""), "users, rates and mean latencies") == 0
                 && contains_name(json_object_get(group, "rules"), "actual_load");
    assert_true(found);
}

/* The file does not say how long the answers were, but the user who imports it knows. */
static void stated_facts_count_like_facts_in_the_file(void **state)
{
    static const char file[] =
        "concurrency,context_size,req_per_sec,avg_latency\n1,8,1.25,0.8\n2,8,2.5,0.8\n";
    struct world *world = *state;
    TEXT_AUTO arguments = { 0 };
    json_auto_t *before = NULL, *stated = NULL, *after = NULL, *again = NULL;
    char id[ID_SIZE];

    import(world, file, strlen(file), "stated.csv", id);
    before = audit_with(world, id, "");
    assert_non_null(finding_of(before, "unknown_output"));
    text_addf(&arguments,
              "{\"run\":\"%s\",\"output_tokens\":1,\"timeout_s\":60,\"flags\":\"--enforce-eager\","
              "\"workload\":\"the same prompt each time\",\"model_revision\":\"abc\"}",
              id);
    stated = world_ok(world, "run_import", text_string(&arguments));
    snprintf(id, sizeof id, "%s", json_get_text(json_object_get(stated, "run"), "id", ""));
    after = audit_with(world, id, "");
    assert_null(finding_of(after, "unknown_output"));
    assert_non_null(finding_of(after, "one_token_output"));
    assert_non_null(finding_of(after, "prefix_cache"));
    assert_null(finding_of(after, "identical_runs"));
    text_finish(&arguments);
    text_addf(&arguments, "{\"run\":\"%s\",\"output_tokens\":256}", id);
    again = world_ok(world, "run_import", text_string(&arguments)); /* corrects the run once more */
    snprintf(id, sizeof id, "%s", json_get_text(json_object_get(again, "run"), "id", ""));
    json_auto_t *last = audit_with(world, id, "");
    assert_null(finding_of(last, "one_token_output"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reports_what_is_wrong_with_an_import),
        cmocka_unit_test(finds_cells_copied_from_another_import),
        cmocka_unit_test(says_which_rules_could_not_be_applied),
        cmocka_unit_test(stated_facts_count_like_facts_in_the_file),
        cmocka_unit_test(finds_something_in_every_published_file),
    };

    return world_run(tests);
}
