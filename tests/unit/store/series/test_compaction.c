/* SPDX-License-Identifier: Apache-2.0 */
/* Rolling up scrapes. Unless the clock is set back, queries get the same answers whether or not the
 * scrapes have been rolled up, no matter when that happened. */
#include <math.h>

#include "base/core/random.h"
#include "store/ledger/store.h"
#include "tests/unit/support/backdoor.h"
#include "tests/unit/support/ledger.h"
#include "tests/unit/support/scrape_rig.h"

static void scrape_one(struct ledger *ledger, int64_t at_ms, const char *type, double value)
{
    scrape(ledger, at_ms, &(struct scrape_value){ "x", "", type, value }, 1);
}

/* Asserts that there is exactly one series named "x", and reads all of it. */
static struct scraped read_x(struct ledger *ledger, enum scrape_level level, int64_t step_ms)
{
    const struct scrape_range range = { 1, "x", 0, INT64_MAX, step_ms };
    struct scraped *series, one;
    size_t count;

    assert_ok(ledger, scraped_read(ledger->store, &range, level, &series, &count, &ledger->error));
    assert_int_equal(count, 1);
    one = series[0];
    free(series);
    return one;
}

static void assert_same_points(const struct scraped *a, const struct scraped *b)
{
    assert_int_equal(a->count, b->count);
    for (size_t i = 0; i < a->count; i++) {
        const struct scrape_point *x = &a->points[i], *y = &b->points[i];

        assert_int_equal(x->at_ms, y->at_ms);
        assert_true(x->count == y->count && x->last == y->last && x->min == y->min
                    && x->max == y->max && x->covered_ms == y->covered_ms);
        /* allows for rounding, because the numbers are added in a different order */
        assert_true(fabs(x->sum - y->sum) <= 1e-9 * fabs(x->sum));
        assert_true(fabs(x->increase - y->increase) <= 1e-9 * fabs(x->increase));
    }
}

/* ---- One case at a time ---- */

static void counts_growth_across_a_restart_of_the_server(void **state)
{
    static const double totals[] = { 100, 160, 220, 30, 90 };
    struct ledger *ledger = *state;
    struct scraped series;

    for (int i = 0; i < 5; i++)
        scrape_one(ledger, START_MS + i * 15 * SECOND_MS, "counter", totals[i]);
    compact(ledger, START_MS + 2 * HOUR_MS);
    series = read_x(ledger, SCRAPE_1_MIN, MINUTE_MS);
    assert_int_equal(series.count, 2);
    assert_true(series.points[0].increase == 60 + 60 + 30);
    assert_true(series.points[0].covered_ms == 45000);
    assert_true(series.points[0].last == 30);
    assert_true(series.points[1].increase == 60);
    assert_true(series.points[1].covered_ms == 15000);
    free(series.points);
}

static void a_gap_stays_a_gap_and_its_growth_counts_once(void **state)
{
    struct ledger *ledger = *state;
    struct scraped series;

    scrape_one(ledger, START_MS, "counter", 10);
    compact(ledger, START_MS + 2 * HOUR_MS);
    scrape_one(ledger, START_MS + 5 * HOUR_MS, "counter", 1810);
    compact(ledger, START_MS + 7 * HOUR_MS);
    series = read_x(ledger, SCRAPE_1_H, HOUR_MS);
    assert_int_equal(series.count, 2);
    assert_int_equal(series.points[1].at_ms, START_MS + 5 * HOUR_MS);
    assert_true(series.points[1].increase == 1800);
    assert_true(series.points[1].covered_ms == 5.0 * HOUR_MS); /* so the rate is 0.1/s */
    free(series.points);
}

static void a_gauge_keeps_its_minimum_and_maximum(void **state)
{
    struct ledger *ledger = *state;
    struct scraped series;

    for (int i = 0; i < 8; i++)
        scrape_one(ledger, START_MS + i * 15 * SECOND_MS, "gauge", i == 2 ? 9.5 : i);
    compact(ledger, START_MS + 2 * HOUR_MS);
    series = read_x(ledger, SCRAPE_1_MIN, MINUTE_MS);
    assert_int_equal(series.count, 2);
    assert_true(series.points[0].count == 4);
    assert_true(series.points[0].min == 0 && series.points[0].max == 9.5);
    assert_true(series.points[0].sum == 13.5 && series.points[0].last == 3);
    assert_true(series.points[1].min == 4 && series.points[1].max == 7);
    free(series.points);
}

static void values_that_are_not_finite_are_skipped(void **state)
{
    struct ledger *ledger = *state;
    static const double values[] = { NAN, 5, INFINITY, 7, -INFINITY };
    struct scraped before, after;

    for (int i = 0; i < 5; i++)
        scrape_one(ledger, START_MS + i * SECOND_MS, "gauge", values[i]);
    before = read_x(ledger, SCRAPE_10_S, 10 * SECOND_MS);
    compact(ledger, START_MS + 2 * HOUR_MS);
    after = read_x(ledger, SCRAPE_10_S, 10 * SECOND_MS);
    assert_int_equal(after.count, 1);
    assert_true(after.points[0].count == 2 && after.points[0].sum == 12);
    assert_same_points(&before, &after);
    free(before.points);
    free(after.points);
}

static void an_hour_that_has_just_ended_waits_for_late_scrapes(void **state)
{
    struct ledger *ledger = *state;
    struct scraped series;

    scrape_one(ledger, START_MS + HOUR_MS - 2, "counter", 0);
    compact(ledger, START_MS + HOUR_MS);
    scrape_one(ledger, START_MS + HOUR_MS - 1, "counter", 1); /* late, but not too late */
    compact(ledger, START_MS + HOUR_MS + MINUTE_MS);
    series = read_x(ledger, SCRAPE_RAW, 1);
    assert_int_equal(series.count, 2);
    free(series.points);
}

/* Adds up the scrapes and the growth of all points. */
static void add_up(struct ledger *ledger, enum scrape_level level, double *scrapes, double *growth)
{
    struct scraped series = read_x(ledger, level, scrape_level_ms(level));

    *scrapes = *growth = 0;
    for (size_t i = 0; i < series.count; i++) {
        *scrapes += series.points[i].count;
        *growth += series.points[i].increase;
    }
    free(series.points);
}

/* At SCRAPE_RAW, a growth of 10 can be missing: growth is counted only between neighbours in time,
 * and scrapes that are stored later can fall between two scrapes that were neighbours. */
static void assert_adds_up(struct ledger *ledger, double expected_scrapes, double expected_growth)
{
    for (int level = 0; level < SCRAPE_LEVELS; level++) {
        double scrapes, growth;

        add_up(ledger, (enum scrape_level)level, &scrapes, &growth);
        assert_true(scrapes == expected_scrapes);
        assert_true(growth <= expected_growth
                    && growth >= expected_growth - (level == SCRAPE_RAW ? 10 : 0));
    }
}

static void setting_the_clock_back_causes_no_growth(void **state)
{
    struct ledger *ledger = *state;
    struct scraped series;

    for (int i = 0; i < 3; i++)
        scrape_one(ledger, START_MS + 2 * HOUR_MS + i * MINUTE_MS, "counter", 100 + 10 * i);
    for (int i = 0; i < 3; i++)
        scrape_one(ledger, START_MS + 2 * HOUR_MS + i * MINUTE_MS - 1, "counter", 130 + i);
    for (int i = 0; i < 2; i++) {
        series = read_x(ledger, SCRAPE_RAW, 1);
        assert_int_equal(series.count, 6);
        free(series.points);
        series = read_x(ledger, SCRAPE_RAW, 3 * HOUR_MS);
        /* In order of time, scrapes from before the clock was set back alternate with scrapes from
         * after it. No growth is counted between them. */
        assert_true(series.points[0].increase == 0);
        free(series.points);
        compact(ledger, START_MS + 4 * HOUR_MS);
    }
}

/* Scrapes `times` times, once a minute, starting at from_ms. The counter grows by ten each time. */
static void scrape_on(struct ledger *ledger, int64_t from_ms, int times, double *value)
{
    for (int i = 0; i < times; i++)
        scrape_one(ledger, from_ms + i * MINUTE_MS, "counter", *value += 10);
}

#define ROUND 120 /* scrapes in a round */

/* The clock is set back by a little, then by hours that are already rolled up, and finally to
 * before all scrapes. */
static void scrapes_continue_after_the_clock_is_set_back(void **state)
{
    static const int64_t backs_ms[] = { SECOND_MS,      30 * SECOND_MS,  10 * MINUTE_MS,
                                        50 * MINUTE_MS, 5 * HOUR_MS + 1, 30 * HOUR_MS,
                                        300 * DAY_MS };
    struct ledger *ledger = *state;
    int64_t at_ms = START_MS;
    double value = 0, scrapes = 0;

    for (size_t i = 0; i < sizeof backs_ms / sizeof *backs_ms; i++) {
        double before, growth, after;

        scrape_on(ledger, at_ms, ROUND, &value);
        at_ms += ROUND * MINUTE_MS;
        compact(ledger, at_ms);
        add_up(ledger, SCRAPE_1_MIN, &scrapes, &before);
        at_ms -= backs_ms[i] + 1; /* + 1: no two scrapes have the same time */
        scrape_on(ledger, at_ms, ROUND, &value);
        at_ms += ROUND * MINUTE_MS;
        compact(ledger, at_ms + 400 * DAY_MS);
        add_up(ledger, SCRAPE_1_MIN, &scrapes, &after);
        assert_true(scrapes == 2 * ROUND * (double)(i + 1));
        growth = after - before;
        /* The counter grew by ten per scrape. If the sum were much larger than that, some growth
         * would have been counted twice. */
        assert_in_range(growth, 0, 10 * ROUND + 100);
        for (int level = 0; level < SCRAPE_LEVELS; level++) {
            double counted;

            add_up(ledger, (enum scrape_level)level, &counted, &growth);
            assert_true(counted == scrapes);
            if (level == SCRAPE_RAW) /* as in assert_adds_up, some growth can be missing */
                assert_in_range(growth, 0, after);
            else
                assert_true(growth == after);
        }
        at_ms += 10 * DAY_MS;
    }
}

static void a_clock_that_was_far_ahead_does_not_disturb_later_scrapes(void **state)
{
    struct ledger *ledger = *state;
    double value = 0;

    scrape_on(ledger, START_MS, 30, &value);
    scrape_on(ledger, START_MS + 400 * DAY_MS, 100, &value);
    compact(ledger, START_MS + 401 * DAY_MS);
    scrape_on(ledger, START_MS + 130 * MINUTE_MS, 30, &value);
    compact(ledger, START_MS + 131 * MINUTE_MS);
    scrape_on(ledger, START_MS + 160 * MINUTE_MS, 100, &value);
    assert_adds_up(ledger, 260, 10 * 258);
    compact(ledger, START_MS + DAY_MS);
    assert_adds_up(ledger, 260, 10 * 258);
}

static void a_clock_that_was_far_behind_does_not_disturb_later_scrapes(void **state)
{
    struct ledger *ledger = *state;
    double value = 0;

    scrape_on(ledger, START_MS, 200, &value);
    compact(ledger, START_MS + 200 * MINUTE_MS);
    scrape_on(ledger, START_MS - 300 * DAY_MS, 5, &value);
    compact(ledger, START_MS - 300 * DAY_MS + 5 * MINUTE_MS);
    scrape_on(ledger, START_MS + 206 * MINUTE_MS, 200, &value);
    compact(ledger, START_MS + DAY_MS);
    for (int level = 0; level < SCRAPE_LEVELS; level++) {
        double scrapes, growth;

        add_up(ledger, (enum scrape_level)level, &scrapes, &growth);
        assert_true(scrapes == 405);
        assert_in_range(growth, 10 * 400, 10 * 404);
    }
}

static void growth_is_counted_from_the_scrape_before_the_block(void **state)
{
    struct ledger *ledger = *state;
    struct scrape_range range = { 1, "x", START_MS + 4 * HOUR_MS, START_MS + 5 * HOUR_MS, HOUR_MS };
    struct scraped *series;
    size_t count;

    for (int i = 0; i < 31; i++)
        scrape_one(ledger, START_MS + (10 * i + 9) * MINUTE_MS, "counter", 10 * i);
    compact(ledger, START_MS + 7 * HOUR_MS);
    for (int i = 0; i < 2; i++) {
        assert_ok(ledger,
                  scraped_read(ledger->store, &range, SCRAPE_RAW, &series, &count, &ledger->error));
        assert_int_equal(count, 1);
        assert_true(series[0].points[0].increase == 60);
        assert_true(series[0].points[0].covered_ms == HOUR_MS);
        scraped_free(series, count);
        range.from_ms += 5 * MINUTE_MS; /* the block's first scrape is still in the range */
    }
}

static void a_series_whose_type_changes_keeps_its_values(void **state)
{
    struct ledger *ledger = *state;
    struct scraped series;

    scrape_one(ledger, START_MS, "counter", 100);
    scrape_one(ledger, START_MS + MINUTE_MS, "counter", 110);
    compact(ledger, START_MS + 2 * HOUR_MS);
    ledger_reopen(ledger); /* so that the types of the series are read again */
    scrape_one(ledger, START_MS + HOUR_MS, "gauge", 130);
    compact(ledger, START_MS + 3 * HOUR_MS);
    series = read_x(ledger, SCRAPE_1_MIN, MINUTE_MS);
    assert_string_equal(series.type, "gauge");
    assert_int_equal(series.count, 3);
    for (int i = 0; i < 3; i++) {
        const struct scrape_point *point = &series.points[i];

        assert_true(point->sum == point->last && point->min == point->last
                    && point->max == point->last);
    }
    free(series.points);
}

static void scrapes_that_are_rolled_up_within_their_hour_keep_their_growth(void **state)
{
    struct ledger *ledger = *state;
    struct scraped before, after;

    for (int i = 0; i < 1500; i++)
        scrape_one(ledger, START_MS + i * SECOND_MS, "counter", 3 * i);
    before = read_x(ledger, SCRAPE_RAW, HOUR_MS);
    compact(ledger, START_MS + 1500 * SECOND_MS);
    after = read_x(ledger, SCRAPE_1_H, HOUR_MS);
    assert_int_equal(after.count, 1);
    assert_true(after.points[0].increase == 3 * 1499);
    assert_same_points(&before, &after);
    free(before.points);
    free(after.points);
}

/* ---- Everything together, compared with scrapes that are never rolled up ---- */

#define SERIES 7
#define SCRAPES 1500

/* Stores the same scrape for deployments 1 and 2. Only the scrapes of deployment 1 are ever rolled
 * up, because those of deployment 2 are in the future. */
static void scrape_both(struct ledger *ledger, int64_t at_ms, const struct scrape_value *values,
                        size_t count)
{
    scrape(ledger, at_ms, values, count);
    assert_ok(ledger, scrape_add(ledger->store, 2, at_ms + 1000 * DAY_MS, values, count, NULL,
                                 &ledger->error));
}

static void compare_level(struct ledger *ledger, const char *name, enum scrape_level level,
                          int64_t from_ms, int64_t to_ms, int64_t step_ms)
{
    const struct scrape_range packed = { 1, name, from_ms, to_ms, step_ms };
    const struct scrape_range plain = { 2, name, from_ms + 1000 * DAY_MS, to_ms + 1000 * DAY_MS,
                                        step_ms };
    struct scraped *a, *b;
    size_t a_count, b_count;

    assert_ok(ledger, scraped_read(ledger->store, &packed, level, &a, &a_count, &ledger->error));
    assert_ok(ledger,
              scraped_read(ledger->store, &plain, SCRAPE_RAW, &b, &b_count, &ledger->error));
    assert_int_equal(a_count, b_count);
    for (size_t i = 0; i < a_count; i++) {
        for (size_t j = 0; j < b[i].count; j++)
            b[i].points[j].at_ms -= 1000 * DAY_MS;
        assert_string_equal(a[i].labels, b[i].labels);
        assert_same_points(&b[i], &a[i]);
    }
    scraped_free(a, a_count);
    scraped_free(b, b_count);
}

static void compare_all(struct ledger *ledger, int64_t from_ms, int64_t to_ms)
{
    static const char *const names[] = { "gauge", "total", "wait_bucket" };

    for (size_t i = 0; i < 3; i++) {
        compare_level(ledger, names[i], SCRAPE_RAW, from_ms, to_ms, 1);
        compare_level(ledger, names[i], SCRAPE_RAW, from_ms, to_ms, 30 * SECOND_MS);
        compare_level(ledger, names[i], SCRAPE_10_S, from_ms, to_ms, 10 * SECOND_MS);
        compare_level(ledger, names[i], SCRAPE_1_MIN, from_ms, to_ms, 5 * MINUTE_MS);
        compare_level(ledger, names[i], SCRAPE_1_H, from_ms, to_ms, HOUR_MS);
    }
}

/* Makes the server's next scrape: there is traffic, the server sometimes restarts, and series come
 * and go. Returns the number of values. */
static size_t next_scrape(struct generator *random, double figures[SERIES],
                          struct scrape_value values[SERIES])
{
    static const struct scrape_value all[SERIES] = {
        { "gauge", "", "gauge", 0 },
        { "total", "a=\"1\"", "counter", 0 },
        { "total", "a=\"2\"", "counter", 0 },
        { "wait_bucket", "le=\"0.1\"", "counter", 0 },
        { "wait_bucket", "le=\"1\"", "counter", 0 },
        { "wait_bucket", "le=\"+Inf\"", "counter", 0 },
        { "total", "a=\"3\"", "counter", 0 },
    };
    size_t count = 0;

    if (generator_below(random, 300) == 0)
        for (int i = 1; i < SERIES; i++)
            figures[i] = 0;
    figures[0] = generator_uniform(random);
    figures[1] += (double)generator_below(random, 50);
    figures[2] += generator_uniform(random);
    for (int i = 3; i < 6; i++)
        figures[i] += (double)generator_below(random, 4) + (double)(i - 3);
    for (int i = 0; i < SERIES; i++) {
        if (i == 6 ? generator_below(random, 100) != 0 : generator_below(random, 200) == 0)
            continue;
        values[count] = all[i];
        values[count++].value = figures[i];
    }
    return count;
}

static void answers_are_the_same_whether_scrapes_are_rolled_up_or_not(void **state)
{
    struct ledger *ledger = *state;
    struct scrape_value values[SERIES];
    double figures[SERIES] = { 0 };
    struct generator random;
    int64_t at_ms = START_MS + 7 * SECOND_MS;

    generator_init(&random, 5);
    for (int i = 0; i < SCRAPES; i++) {
        scrape_both(ledger, at_ms, values, next_scrape(&random, figures, values));
        at_ms += i < 800 ? 15000 + (int64_t)generator_below(&random, 5) : 1000;
        if (i == 800)
            at_ms += 9 * HOUR_MS; /* a gap; from then on, one scrape per second */
        if (i % 50 == 0)
            compact(ledger, at_ms);
        if (i == 700 || i == 1300) {
            ledger_reopen(ledger);
            compare_all(ledger, START_MS, at_ms + HOUR_MS);
        }
    }
    compare_all(ledger, START_MS, at_ms + HOUR_MS);
    compact(ledger, at_ms + DAY_MS);
    compare_all(ledger, START_MS, at_ms + HOUR_MS);
    compare_all(ledger, START_MS + 2 * HOUR_MS, START_MS + 5 * HOUR_MS);
    compact(ledger, at_ms + DAY_MS); /* there is nothing left to roll up */
    compare_all(ledger, START_MS, at_ms + HOUR_MS);
}

/* ---- Failures ---- */

static void damage(struct ledger *ledger, const char *statement)
{
    backdoor_run(ledger->folder, statement);
}

static size_t count_points(struct ledger *ledger, int64_t deployment_id, enum scrape_level level)
{
    const struct scrape_range range = { deployment_id, "x", 0, INT64_MAX, HOUR_MS };
    struct scraped *series;
    size_t count, points = 0;

    assert_ok(ledger, scraped_read(ledger->store, &range, level, &series, &count, &ledger->error));
    for (size_t i = 0; i < count; i++)
        points += series[i].count;
    scraped_free(series, count);
    return points;
}

static void a_rollup_that_fails_halfway_loses_nothing_and_can_be_repeated(void **state)
{
    struct ledger *ledger = *state;
    const struct scrape_value value = { "x", "", "gauge", 1 };

    for (int64_t id = 1; id <= 2; id++)
        for (int i = 0; i < 3; i++)
            assert_ok(ledger, scrape_add(ledger->store, id, START_MS + i * HOUR_MS, &value, 1, NULL,
                                         &ledger->error));
    compact(ledger, START_MS + HOUR_MS + MINUTE_MS);
    backdoor_refuse(ledger->folder, "trouble", "INSERT ON blocks",
                    "new.deployment_id = 1 AND new.level = 3");
    assert_refused(ledger, scrape_compact(ledger->store, START_MS + 5 * HOUR_MS, &ledger->error),
                   ERROR_INTERNAL, "trouble");
    for (int64_t id = 1; id <= 2; id++)
        for (int level = 0; level < SCRAPE_LEVELS; level++)
            assert_int_equal(count_points(ledger, id, (enum scrape_level)level), 3);
    backdoor_allow(ledger->folder, "trouble", "blocks");
    ledger_reopen(ledger);
    compact(ledger, START_MS + 5 * HOUR_MS);
    for (int level = 0; level < SCRAPE_LEVELS; level++)
        assert_int_equal(count_points(ledger, 1, (enum scrape_level)level), 3);
}

static void damaged_blocks_cannot_be_read(void **state)
{
    static const char *const damages[] = {
        "UPDATE chunks SET data = substr(data, 1, length(data) - 3)",
        "UPDATE chunks SET data = substr(data, 1, 10)",
        "UPDATE blocks SET data = substr(data, 1, length(data) - 2)",
        "UPDATE blocks SET data = substr(data, 3)",
    };
    struct ledger *ledger = *state;
    const struct scrape_range range = { 1, "x", 0, INT64_MAX, 1 };
    struct scraped *series;
    size_t count;

    for (int64_t i = 0; i < 4; i++) {
        scrape_one(ledger, START_MS + i * 8 * HOUR_MS, "gauge", 1);
        compact(ledger, START_MS + (i * 8 + 2) * HOUR_MS);
        damage(ledger, damages[i]);
        assert_false(
            scraped_read(ledger->store, &range, SCRAPE_RAW, &series, &count, &ledger->error));
        damage(ledger, "DELETE FROM blocks");
    }
}

/* ---- Rolling up during a read ---- */

/* Rolls up the scrapes once during a read, when the read reports its first point. */
struct meddling {
    struct ledger *ledger;
    double scrapes;
    bool done;
};

static bool choose_all(void *context, const struct scrape_series *series, size_t *tag)
{
    (void)context;
    (void)series;
    (void)tag;
    return true;
}

static void count_and_roll_up(void *context, size_t tag, const struct scrape_point *point)
{
    struct meddling *meddling = context;

    (void)tag;
    meddling->scrapes += point->count;
    if (!meddling->done)
        compact(meddling->ledger, START_MS + 3 * HOUR_MS);
    meddling->done = true;
}

static void scrapes_that_are_rolled_up_while_they_are_read_are_seen_once(void **state)
{
    const struct scrape_range range = { 1, "x", 0, INT64_MAX, MINUTE_MS };
    struct meddling meddling = { .ledger = *state };
    const struct scrape_visitor visitor = { choose_all, count_and_roll_up, &meddling };
    double value = 0;

    scrape_on(meddling.ledger, START_MS, 60, &value);
    compact(meddling.ledger, START_MS + HOUR_MS + MINUTE_MS);
    scrape_on(meddling.ledger, START_MS + HOUR_MS, 60, &value);
    assert_ok(meddling.ledger, scrape_visit(meddling.ledger->store, &range, SCRAPE_1_MIN, &visitor,
                                            &meddling.ledger->error));
    assert_true(meddling.done);
    assert_true(meddling.scrapes == 120);
}

/* ---- Retention ---- */

static void each_level_is_kept_for_its_own_number_of_days(void **state)
{
    struct ledger *ledger = *state;
    const struct retention retention = {
        .samples_days = 2, .samples_10s_days = 7, .samples_1m_days = 30, .samples_1h_days = 400
    };
    enum scrape_level level;
    int64_t now_ms = START_MS + 100 * DAY_MS;
    int64_t days[SCRAPE_LEVELS];

    for (int64_t at_ms = START_MS; at_ms < now_ms; at_ms += 6 * HOUR_MS)
        scrape_one(ledger, at_ms, "gauge", 1);
    compact(ledger, now_ms);
    assert_ok(ledger, store_apply_retention(ledger->store, &retention, now_ms, &ledger->error));
    for (int i = 0; i < SCRAPE_LEVELS; i++) {
        struct scraped series = read_x(ledger, (enum scrape_level)i, HOUR_MS);

        days[i] = (now_ms - series.points[0].at_ms) / DAY_MS;
        free(series.points);
    }
    assert_in_range(days[SCRAPE_RAW], 1, 2); /* a block is deleted when all of it is too old */
    assert_in_range(days[SCRAPE_10_S], 6, 7);
    assert_in_range(days[SCRAPE_1_MIN], 29, 31);
    assert_in_range(days[SCRAPE_1_H], 99, 100);
    assert_ok(ledger,
              scrape_level_for(ledger->store, 1, now_ms - DAY_MS, 15000, &level, &ledger->error));
    assert_int_equal(level, SCRAPE_RAW);
    assert_ok(ledger, scrape_level_for(ledger->store, 1, now_ms - 10 * DAY_MS, 15000, &level,
                                       &ledger->error));
    assert_int_equal(level, SCRAPE_1_MIN);
    assert_ok(ledger, scrape_level_for(ledger->store, 1, now_ms - 90 * DAY_MS, MINUTE_MS, &level,
                                       &ledger->error));
    assert_int_equal(level, SCRAPE_1_H);
    assert_ok(ledger, scrape_level_for(ledger->store, 1, now_ms - DAY_MS, 6 * HOUR_MS, &level,
                                       &ledger->error));
    assert_int_equal(level, SCRAPE_1_H);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_growth_across_a_restart_of_the_server),
        cmocka_unit_test(a_gap_stays_a_gap_and_its_growth_counts_once),
        cmocka_unit_test(a_gauge_keeps_its_minimum_and_maximum),
        cmocka_unit_test(values_that_are_not_finite_are_skipped),
        cmocka_unit_test(an_hour_that_has_just_ended_waits_for_late_scrapes),
        cmocka_unit_test(setting_the_clock_back_causes_no_growth),
        cmocka_unit_test(scrapes_continue_after_the_clock_is_set_back),
        cmocka_unit_test(a_clock_that_was_far_ahead_does_not_disturb_later_scrapes),
        cmocka_unit_test(a_clock_that_was_far_behind_does_not_disturb_later_scrapes),
        cmocka_unit_test(growth_is_counted_from_the_scrape_before_the_block),
        cmocka_unit_test(a_series_whose_type_changes_keeps_its_values),
        cmocka_unit_test(scrapes_that_are_rolled_up_within_their_hour_keep_their_growth),
        cmocka_unit_test(answers_are_the_same_whether_scrapes_are_rolled_up_or_not),
        cmocka_unit_test(a_rollup_that_fails_halfway_loses_nothing_and_can_be_repeated),
        cmocka_unit_test(damaged_blocks_cannot_be_read),
        cmocka_unit_test(scrapes_that_are_rolled_up_while_they_are_read_are_seen_once),
        cmocka_unit_test(each_level_is_kept_for_its_own_number_of_days),
    };

    return ledger_run(tests);
}
