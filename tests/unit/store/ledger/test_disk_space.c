/* SPDX-License-Identifier: Apache-2.0 */
/* What is refused while the disk is nearly full, and what is refused to a principal that has stored
 * too much. */
#include "base/core/clock.h"
#include "store/ledger/datasets.h"
#include "store/ledger/disk_space.h"
#include "store/ledger/imports.h"
#include "store/series/scrapes.h"
#include "tests/unit/support/tool_world.h"

static void reserve_whole_disk(struct world *world)
{
    disk_space_reserve(world->services.store, INT64_MAX, 1);
}

static void only_admins_can_make_the_store_grow_if_the_disk_is_nearly_full(void **state)
{
    static const struct {
        const char *tool, *arguments;
    } growing[] = {
        { "deployment_register", "{\"name\":\"b\",\"url\":\"http://127.0.0.1:1\"}" },
        { "deployment_update", "{\"deployment\":\"a\",\"chips\":3}" },
        { "metrics_watch", "{\"deployment\":\"a\"}" },
        { "run_import", "{\"text\":\"a,b\\n1,2\\n\",\"name\":\"x.csv\"}" },
        { "dataset_import", "{\"name\":\"d\",\"text\":\"[]\"}" },
        { "sweep_start", "{\"deployment\":\"a\",\"concurrency\":[1],\"input_tokens\":[64],"
                         "\"output_tokens\":[16]}" },
        { "sweep_resume", "{\"sweep\":\"swp_1\"}" },
    };
    struct world *world = *state;

    world_register(world, "a");
    reserve_whole_disk(world);
    world->role = ROLE_OPERATOR;
    for (size_t i = 0; i < sizeof growing / sizeof *growing; i++)
        world_refused(world, growing[i].tool, growing[i].arguments, ERROR_BUSY,
                      "the disk of the data folder is nearly full");
    assert_non_null(strstr(world->error.message, "disk_reserve_bytes"));
    json_decref(world_ok(world, "deployment_list", "{}"));
    json_decref(world_ok(world, "audit_list", "{}"));
    world->role = ROLE_ADMIN;
    world_do(world, "deployment_update", "{\"deployment\":\"a\",\"chips\":3}");
}

static void scrapes_are_not_stored_if_the_disk_is_nearly_full(void **state)
{
    const struct scrape_value value = { "x", "", "gauge", 1 };
    struct world *world = *state;
    struct store *store = world->services.store;

    assert_true(scrape_add(store, 1, 1000, &value, 1, NULL, &world->error));
    reserve_whole_disk(world);
    assert_false(scrape_add(store, 1, 2000, &value, 1, NULL, &world->error));
    assert_non_null(strstr(world->error.message, "nearly full"));
}

static void the_reserve_is_at_most_a_share_of_the_disk(void **state)
{
    struct world *world = *state;
    struct disk_space disk;

    disk_space_reserve(world->services.store, INT64_MAX, 10);
    disk_space_read(world->services.store, &disk);
    assert_in_range(disk.free_bytes, 1, disk.total_bytes);
    assert_int_equal(disk.reserve_bytes, disk.total_bytes / 10);
    disk_space_reserve(world->services.store, 4096, 10);
    disk_space_read(world->services.store, &disk);
    assert_int_equal(disk.reserve_bytes, 4096);
    disk_space_reserve(world->services.store, 0, 10);
    assert_true(disk_space_check(world->services.store, &world->error));
}

/* ---- The limit on what a principal stores ---- */

static bool try_import(struct world *world, struct change *change, const char *digest,
                       const char *cell)
{
    const char *const cells[] = { cell };
    struct import_order order = { .digest = digest,
                                  .format = "csv",
                                  .name = "a.csv",
                                  .stated = "{}",
                                  .deployment = "",
                                  .document = "{}",
                                  .cells = cells,
                                  .cell_count = 1 };
    struct import_row row;
    bool existed;

    if (!import_create(world->services.store, &order, clock_utc_ms(), change, &row, &existed,
                       &world->error))
        return false;
    import_row_finish(&row);
    return true;
}

static void import(struct world *world, const char *principal, const char *digest, size_t bytes)
{
    struct change change = { .actor = { .principal = principal }, .tool = "run_import" };
    char *cell = malloc(bytes + 1);

    memset(cell, 'x', bytes);
    cell[bytes] = '\0';
    assert_true(try_import(world, &change, digest, cell));
    free(cell);
}

static void import_dataset(struct world *world, const char *principal, size_t bytes)
{
    struct change change = { .actor = { .principal = principal }, .tool = "dataset_import" };
    struct dataset_entry entry = {
        .name = "d", .digest = "e", .kind = "prompts", .rows = 1, .lengths = (char[]){ "{}" }
    };
    char *data = calloc(1, bytes);
    bool existed;

    assert_true(dataset_entry_create(world->services.store, &entry, data, bytes, clock_utc_ms(),
                                     &change, &existed, &world->error));
    free(data);
}

static void counts_what_a_principal_has_stored(void **state)
{
    struct world *world = *state;
    struct usage usage;

    import(world, "bob", "d1", 100000);
    import(world, "eve", "d2", 50000);
    import_dataset(world, "bob", 200000);
    world_register(world, "a"); /* as alice */
    assert_true(usage_read(world->services.store, "bob", &usage, &world->error));
    assert_in_range(usage.imports_bytes, 100000, 101000);
    assert_in_range(usage.datasets_bytes, 200000, 201000);
    assert_int_equal(usage.sweeps_bytes, 0);
    assert_int_equal(usage.deployments_bytes, 0);
    assert_true(usage_read(world->services.store, "alice", &usage, &world->error));
    assert_in_range(usage.deployments_bytes, 100, 1000);
    assert_int_equal(usage.imports_bytes, 0);
}

static void counts_bytes_not_characters(void **state)
{
    static const char THREE_BYTES[] = "\xe5\xad\x97";
    struct change change = { .actor = { .principal = "bob" }, .tool = "run_import" };
    struct world *world = *state;
    TEXT_AUTO cell = { 0 };
    struct usage usage;

    for (int i = 0; i < 10000; i++)
        text_add(&cell, THREE_BYTES);
    assert_true(try_import(world, &change, "d1", text_string(&cell)));
    assert_true(usage_read(world->services.store, "bob", &usage, &world->error));
    assert_in_range(usage.imports_bytes, 30000, 31000);
}

/* Two calls can pass the first check before either of them has stored anything. */
static void the_limit_is_checked_again_when_a_call_stores_something(void **state)
{
    struct change change = { .actor = { .principal = "bob" },
                             .tool = "run_import",
                             .storage_limit_bytes = 1 << 20 };
    struct world *world = *state;

    assert_true(usage_check(world->services.store, "bob", 1 << 20, &world->error));
    import(world, "bob", "d1", 1 << 20);
    assert_false(try_import(world, &change, "d2", "{}"));
    assert_int_equal(world->error.kind, ERROR_CONFLICT);
    assert_non_null(strstr(world->error.message, "bob has stored 1.0 MiB"));
    change.actor.principal = "eve";
    assert_true(try_import(world, &change, "d2", "{}"));
}

static void a_principal_that_stored_too_much_is_told_what_it_stored(void **state)
{
    struct world *world = *state;

    import(world, "bob", "d1", 3 << 20);
    world->services.storage_limit_bytes = 1 << 20;
    world->principal = "bob";
    world->role = ROLE_OPERATOR;
    world_refused(world, "deployment_register", "{\"name\":\"b\",\"url\":\"http://127.0.0.1:1\"}",
                  ERROR_CONFLICT,
                  "bob has stored 3.0 MiB (imports 3.0, datasets 0.0, sweeps 0.0, deployments "
                  "0.0), at least as much as the setting storage_limit_bytes allows (1.0 MiB)");
    world->role = ROLE_ADMIN;
    world_register(world, "b");
    world->principal = "eve";
    world->role = ROLE_OPERATOR;
    world_register(world, "c");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_admins_can_make_the_store_grow_if_the_disk_is_nearly_full),
        cmocka_unit_test(scrapes_are_not_stored_if_the_disk_is_nearly_full),
        cmocka_unit_test(the_reserve_is_at_most_a_share_of_the_disk),
        cmocka_unit_test(counts_what_a_principal_has_stored),
        cmocka_unit_test(counts_bytes_not_characters),
        cmocka_unit_test(the_limit_is_checked_again_when_a_call_stores_something),
        cmocka_unit_test(a_principal_that_stored_too_much_is_told_what_it_stored),
    };

    return world_run(tests);
}
