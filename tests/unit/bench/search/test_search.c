/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/search/search.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/report/load_curve.h"

#define LEVELS 24

/* What a measurement of a model server would show at each load. */
struct curve {
    struct search_level levels[LEVELS];
    size_t count;
};

/* How a simulated model server responds to load. */
struct model {
    double alone_s;       /* a request's latency with one user */
    double per_user_s;    /* added to alone_s for each further user who is served at once */
    double slots;         /* users served at once; all others wait */
    double declines_from; /* above this many users, tokens/s fall; 0: they never fall */
    double loses_from;    /* from this many users on, requests fail; 0: they never fail */
    double noise;         /* tokens/s and latency vary up and down by at most this share */
    double limit_s;       /* the limit on latency; 0: none */
    unsigned seed;
};

static double noisy(const struct model *model, unsigned *seed)
{
    return 1 + model->noise * (2.0 * rand_r(seed) / RAND_MAX - 1);
}

static double latency_s(const struct model *model, double users)
{
    double served_s = model->alone_s + model->per_user_s * (fmin(users, model->slots) - 1);

    return users <= model->slots ? served_s : served_s * users / model->slots;
}

static void draw(const struct model *model, struct curve *curve)
{
    static const double loads[LEVELS] = { 1,  2,  3,  4,  6,   8,   10,  13,  16,  20,  26,  32,
                                          40, 50, 64, 80, 100, 128, 160, 200, 256, 320, 400, 512 };
    unsigned seed = model->seed;

    curve->count = LEVELS;
    for (size_t i = 0; i < LEVELS; i++) {
        double e2e_s = latency_s(model, loads[i]), tokens = loads[i] * 16 / e2e_s;
        struct search_level *level = &curve->levels[i];

        if (model->declines_from > 0 && loads[i] > model->declines_from)
            tokens *= pow(model->declines_from / loads[i], 0.3);
        *level = (struct search_level){ loads[i], LEVEL_SOUND, tokens * noisy(model, &seed), NAN };
        if (model->limit_s > 0)
            level->slo_ratio = e2e_s * noisy(model, &seed) / model->limit_s;
        if (model->loses_from > 0 && loads[i] >= model->loses_from)
            *level = (struct search_level){ loads[i], LEVEL_LOST, 0,
                                            model->limit_s > 0 ? INFINITY : NAN };
    }
}

/* Returns what measuring every level would find: the saturation point, the peak and the limit, as
 * search.h defines them. */
static struct search_step full_grid_result(const struct curve *curve)
{
    struct search_step out = {
        .saturation = SEARCH_NONE, .peak = SEARCH_NONE, .limit = SEARCH_NONE, .miss = SEARCH_NONE
    };

    for (size_t i = 0; i < curve->count; i++)
        if (curve->levels[i].state == LEVEL_SOUND
            && (out.peak == SEARCH_NONE
                || curve->levels[i].tokens_per_s > curve->levels[out.peak].tokens_per_s))
            out.peak = i;
    for (size_t i = 0; i < curve->count; i++) {
        if (curve->levels[i].slo_ratio <= 1)
            out.limit = i;
        if (out.peak != SEARCH_NONE && out.saturation == SEARCH_NONE
            && curve->levels[i].state == LEVEL_SOUND
            && curve->levels[i].tokens_per_s >= 0.95 * curve->levels[out.peak].tokens_per_s)
            out.saturation = i;
    }
    return out;
}

struct found {
    struct search_step step;
    struct search_level known[LEVELS];
    size_t measured, most_lost_in_a_row;
};

/* Measures, one by one, the levels that the search asks for. */
static void search(const struct curve *curve, const struct search_hint *hint, struct found *out)
{
    size_t lost = 0;

    *out = (struct found){ 0 };
    for (size_t i = 0; i < curve->count; i++)
        out->known[i].load = curve->levels[i].load;
    for (;;) {
        search_step(out->known, curve->count, hint, &out->step);
        if (out->step.finished)
            return;
        assert_true(out->step.next < curve->count);
        assert_int_equal(out->known[out->step.next].state, LEVEL_UNKNOWN);
        out->known[out->step.next] = curve->levels[out->step.next];
        out->measured++;
        lost = curve->levels[out->step.next].state == LEVEL_LOST ? lost + 1 : 0;
        out->most_lost_in_a_row = lost > out->most_lost_in_a_row ? lost : out->most_lost_in_a_row;
    }
}

/* Does the same with search_climb. *top is the largest load that was measured. */
static void climb(const struct curve *curve, const struct search_hint *hint, struct found *out,
                  double *top)
{
    *out = (struct found){ 0 };
    *top = 0;
    for (size_t i = 0; i < curve->count; i++)
        out->known[i].load = curve->levels[i].load;
    for (;;) {
        search_climb(out->known, curve->count, hint, &out->step);
        if (out->step.finished)
            return;
        assert_true(out->step.next < curve->count);
        assert_int_equal(out->known[out->step.next].state, LEVEL_UNKNOWN);
        out->known[out->step.next] = curve->levels[out->step.next];
        *top = fmax(*top, out->known[out->step.next].load);
        out->measured++;
    }
}

static bool differs(const struct search_step *a, const struct search_step *b)
{
    return a->saturation != b->saturation || a->limit != b->limit;
}

/* Checks that a search finds the same saturation point and the same limit as the full grid. Returns
 * how many levels the search measured. */
static size_t check_same(const struct curve *curve, const struct search_hint *hint,
                         struct found *found)
{
    struct search_step expected = full_grid_result(curve);

    search(curve, hint, found);
    if (differs(&found->step, &expected))
        fail_msg("got saturation at level %zd and limit at level %zd, expected %zd and %zd",
                 found->step.saturation, found->step.limit, expected.saturation, expected.limit);
    assert_true(found->measured <= search_most(curve->count));
    return found->measured;
}

static double between(unsigned *seed, double low, double high)
{
    return low * pow(high / low, (double)rand_r(seed) / RAND_MAX);
}

static struct model random_model(unsigned *seed)
{
    struct model model = { .alone_s = between(seed, 0.1, 5),
                           .slots = between(seed, 2, 2000),
                           .seed = (unsigned)rand_r(seed) };

    if (rand_r(seed) % 2 == 0)
        model.per_user_s = model.alone_s * between(seed, 0.001, 0.3);
    if (rand_r(seed) % 4 > 0)
        model.limit_s = model.alone_s * between(seed, 0.8, 50);
    return model;
}

/* Changes the model to that of the same server with a longer context. */
static void lengthen(struct model *model, unsigned *seed)
{
    model->seed++;
    model->alone_s *= between(seed, 1, 1.6);
    model->per_user_s *= between(seed, 1, 1.6);
    model->slots /= between(seed, 1, 1.6);
}

static void finds_what_the_full_grid_finds_on_a_thousand_curves(void **state)
{
    unsigned seed = 7;
    size_t measured = 0;

    (void)state;
    for (int i = 0; i < 1000; i++) {
        const struct model model = random_model(&seed);
        struct curve curve;
        struct found found;

        draw(&model, &curve);
        measured += check_same(&curve, NULL, &found);
    }
    print_message("without a hint: on average, %.1f of %d levels were measured\n",
                  (double)measured / 1000, LEVELS);
    assert_true(measured * 4 < 1000 * LEVELS);
}

/* On these curves, tokens/s do not grow above `slots` users. */
static void a_climb_finds_the_saturation_point_and_stops_soon_above_it(void **state)
{
    unsigned seed = 11;

    (void)state;
    for (int i = 0; i < 1000; i++) {
        const struct model model = { .alone_s = between(&seed, 0.1, 5),
                                     .slots = between(&seed, 1, 100) };
        struct search_step expected;
        struct curve curve;
        struct found found, again;
        const struct search_hint hint = { found.known, true };
        double top;

        draw(&model, &curve);
        expected = full_grid_result(&curve);
        climb(&curve, NULL, &found, &top);
        assert_int_equal(found.step.saturation, expected.saturation);
        assert_true(top <= 32 * model.slots); /* two steps by a factor of four, each rounded up */
        assert_true(found.measured <= search_most(curve.count));
        climb(&curve, &hint, &again, &top);
        assert_int_equal(again.step.saturation, expected.saturation);
    }
}

static void a_climb_ends_where_requests_fail(void **state)
{
    const struct model model = { .alone_s = 1, .slots = 500, .loses_from = 50 };
    struct curve curve;
    struct found found;
    double top;

    (void)state;
    draw(&model, &curve);
    climb(&curve, NULL, &found, &top);
    assert_true(top == 64 && curve.levels[found.step.saturation].load == 40);
    curve.levels[0].state = LEVEL_LOST;
    climb(&curve, NULL, &found, &top);
    assert_true(top == 1 && found.step.saturation == SEARCH_NONE);
}

static void a_hint_from_a_shorter_context_saves_measurements(void **state)
{
    unsigned seed = 8;
    size_t measured = 0;

    (void)state;
    for (int i = 0; i < 1000; i++) {
        struct model model = random_model(&seed);
        struct curve curve;
        struct found shorter, longer;
        const struct search_hint hint = { shorter.known, false };

        draw(&model, &curve);
        check_same(&curve, NULL, &shorter);
        lengthen(&model, &seed);
        draw(&model, &curve);
        measured += check_same(&curve, &hint, &longer);
    }
    print_message("after a shorter context: on average, %.1f of %d levels were measured\n",
                  (double)measured / 1000, LEVELS);
    assert_true(measured * 5 < 1000 * LEVELS);
}

static void a_hint_from_an_earlier_repetition_saves_measurements(void **state)
{
    unsigned seed = 9;
    size_t measured = 0;

    (void)state;
    for (int i = 0; i < 1000; i++) {
        const struct model model = random_model(&seed);
        struct curve curve;
        struct found first, second;
        const struct search_hint hint = { first.known, true };

        draw(&model, &curve);
        check_same(&curve, NULL, &first);
        measured += check_same(&curve, &hint, &second);
        assert_true(second.measured <= first.measured);
    }
    print_message("in a repetition: on average, %.1f of %d levels were measured\n",
                  (double)measured / 1000, LEVELS);
    assert_true(measured * 6 < 1000 * LEVELS);
}

/* Every figure is off by up to 2 %, so even two full grids of the same server can give different
 * results. */
static void with_noise_a_search_agrees_with_its_grid_better_than_another_grid_does(void **state)
{
    unsigned seed = 10;
    size_t differ = 0, differ_anyway = 0, measured = 0;

    (void)state;
    for (int i = 0; i < 1000; i++) {
        struct model model = random_model(&seed);
        struct curve curve, again;
        struct found found;
        struct search_step expected, other;

        model.noise = 0.02;
        draw(&model, &curve);
        search(&curve, NULL, &found);
        expected = full_grid_result(&curve);
        model.seed++;
        draw(&model, &again);
        other = full_grid_result(&again);
        measured += found.measured;
        differ += differs(&found.step, &expected);
        differ_anyway += differs(&other, &expected);
    }
    print_message(
        "with noise of 2 %%: %zu of 1000 results differ from the full grid's; %zu differ between "
        "two full grids; on average, %.1f of %d levels were measured\n",
        differ, differ_anyway, (double)measured / 1000, LEVELS);
    assert_true(differ * 2 < differ_anyway);
}

/* Two kinds of curves can mislead the search: those whose tokens/s at the largest load are so close
 * to the peak that the difference could be noise, and those that rise and fall again between two
 * measured levels. */
static void finds_the_saturation_point_of_nearly_all_curves_with_a_decline(void **state)
{
    unsigned seed = 11;
    size_t measured = 0, off = 0;

    (void)state;
    for (int i = 0; i < 1000; i++) {
        struct model model = random_model(&seed);
        struct curve curve;
        struct found found;
        struct search_step expected;

        model.declines_from = fmin(model.slots * between(&seed, 1, 4), 512);
        draw(&model, &curve);
        search(&curve, NULL, &found);
        expected = full_grid_result(&curve);
        measured += found.measured;
        off += found.step.saturation != expected.saturation;
        assert_int_equal(found.step.limit, expected.limit);
    }
    print_message("with a decline: on average, %.1f of %d levels were measured; %zu of 1000 "
                  "results are wrong\n",
                  (double)measured / 1000, LEVELS, off);
    assert_true(off < 20);
}

/* A sweep ends after three failed cells in a row, because the server might be down. A server that
 * fails only at high loads should rarely cause this. */
static void with_failures_a_search_agrees_with_the_full_grid_and_rarely_ends_a_sweep(void **state)
{
    unsigned seed = 12;
    size_t measured = 0, ended = 0;

    (void)state;
    for (int i = 0; i < 300; i++) {
        struct model model = random_model(&seed);
        struct curve curve;
        struct found found;

        model.loses_from = between(&seed, 1.5, 600);
        draw(&model, &curve);
        measured += check_same(&curve, NULL, &found);
        ended += model.loses_from > 8 && found.most_lost_in_a_row > 2;
    }
    print_message(
        "with failures: on average, %.1f of %d levels were measured; %zu of 300 sweeps would end "
        "early\n",
        (double)measured / 300, LEVELS, ended);
    assert_true(ended < 30);
}

static void finds_out_that_all_levels_meet_the_limits_or_that_none_does(void **state)
{
    struct model model = { .alone_s = 1, .slots = 64, .limit_s = 100 };
    struct curve curve;
    struct found found, longer;
    const struct search_hint hint = { found.known, false };

    (void)state;
    draw(&model, &curve);
    check_same(&curve, NULL, &found);
    assert_int_equal(found.step.limit, LEVELS - 1);
    assert_int_equal(found.step.miss, SEARCH_NONE);
    model.limit_s = 0.5;
    draw(&model, &curve);
    check_same(&curve, NULL, &found);
    assert_int_equal(found.step.limit, SEARCH_NONE);
    assert_int_equal(found.step.miss, 0);
    /* The smallest load may have missed the limit by chance, so the next load is measured, too. */
    assert_int_equal(found.known[1].state, LEVEL_SOUND);
    check_same(&curve, &hint, &longer);
    /* It is unlikely to miss by chance at two contexts, so now the next load is not measured. */
    assert_int_equal(longer.known[1].state, LEVEL_UNKNOWN);
}

static void a_miss_by_chance_at_the_smallest_load_does_not_hide_the_limit(void **state)
{
    const struct model model = { .alone_s = 1, .slots = 64, .limit_s = 2 };
    struct curve curve;
    struct found found;

    (void)state;
    draw(&model, &curve);
    curve.levels[0].slo_ratio = 3;
    check_same(&curve, NULL, &found);
    assert_int_equal(curve.levels[found.step.limit].load, 128);
}

static void the_load_above_one_that_barely_misses_a_limit_is_measured(void **state)
{
    const struct model model = { .alone_s = 1, .slots = 64, .limit_s = 2 };
    struct curve curve;
    struct found found;

    (void)state;
    draw(&model, &curve);
    curve.levels[17].slo_ratio = 1.01; /* 128 users */
    curve.levels[18].slo_ratio = 0.99; /* 160 */
    check_same(&curve, NULL, &found);
    assert_int_equal(curve.levels[found.step.limit].load, 160);
}

static void gives_up_if_nothing_succeeds(void **state)
{
    const struct model model = { .alone_s = 1, .slots = 64, .limit_s = 2, .loses_from = 1 };
    struct curve curve;
    struct found found;
    TEXT_AUTO text = { 0 };

    (void)state;
    draw(&model, &curve);
    assert_int_equal(check_same(&curve, NULL, &found), 3);
    search_explain(found.known, &found.step, 5, false, &text);
    assert_string_equal(text.data, "nothing succeeded at the measured loads");
}

static void finds_what_a_full_grid_of_few_levels_finds(void **state)
{
    const struct model model = { .alone_s = 1, .slots = 3, .limit_s = 2 };
    struct curve curve;
    struct found found;

    (void)state;
    draw(&model, &curve);
    for (curve.count = 1; curve.count < 5; curve.count++)
        check_same(&curve, NULL, &found);
}

/* The results of an earlier process can include a lost level that this search would not have
 * measured. */
static void a_lost_level_below_the_only_sound_one_is_not_measured_again(void **state)
{
    struct search_level levels[] = { { 1, LEVEL_LOST, 0, NAN },
                                     { 2, LEVEL_UNKNOWN, 0, NAN },
                                     { 3, LEVEL_LOST, 0, NAN },
                                     { 4, LEVEL_SOUND, 100, NAN } };
    struct search_step step;

    (void)state;
    search_step(levels, 4, NULL, &step);
    assert_false(step.finished);
    assert_int_equal(step.next, 1);
}

static void search_most_grows_slowly_with_the_number_of_levels(void **state)
{
    (void)state;
    assert_int_equal(search_most(1), 1);
    assert_int_equal(search_most(8), 8);
    assert_int_equal(search_most(24), 16);
    assert_int_equal(search_most(64), 18);
}

static void check_reason(const struct found *found, size_t level, const char *expected)
{
    TEXT_AUTO text = { 0 };

    search_explain(found->known, &found->step, level, false, &text);
    assert_string_equal(text.data, expected);
}

static void says_why_a_level_need_not_be_measured(void **state)
{
    const struct model model = { .alone_s = 1, .slots = 64, .limit_s = 2 };
    struct curve curve;
    struct found found;
    TEXT_AUTO text = { 0 };

    (void)state;
    draw(&model, &curve);
    check_same(&curve, NULL, &found);
    check_reason(&found, 3, "under the saturation point at 64 users; 128 users meet the limits");
    check_reason(&found, 15, "over the saturation point at 64 users; 128 users meet the limits");
    check_reason(&found, 21, "over the saturation point at 64 users; 160 users miss the limits");
    found.step.limit = found.step.miss = SEARCH_NONE;
    search_explain(found.known, &found.step, 3, true, &text);
    assert_string_equal(text.data, "under the saturation point at 64 requests/s");
}

static void uses_the_same_saturation_share_as_the_report(void **state)
{
    (void)state;
    assert_true(SEARCH_SHARE == SATURATION_SHARE);
}

static struct load_verdict judge(const struct found *found)
{
    struct load_point points[LEVELS];
    size_t count = 0;

    for (size_t i = 0; i < LEVELS; i++)
        if (found->known[i].state == LEVEL_SOUND)
            points[count++] = (struct load_point){ .load = found->known[i].load,
                                                   .tokens_per_s = found->known[i].tokens_per_s,
                                                   .noise = 0.005,
                                                   .ttft_ms = NAN,
                                                   .e2e_ms = NAN,
                                                   .waiting = NAN };
    return load_curve_judge(points, count, false);
}

static void the_report_agrees_with_the_search(void **state)
{
    unsigned seed = 3;

    (void)state;
    for (int i = 0; i < 1000; i++) {
        struct model model = random_model(&seed);
        struct curve curve;
        struct found found;
        struct load_verdict verdict;

        draw(&model, &curve);
        search(&curve, NULL, &found);
        verdict = judge(&found);
        assert_true(verdict.low <= curve.levels[found.step.saturation].load);
        assert_true(verdict.high >= curve.levels[found.step.saturation].load);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_what_the_full_grid_finds_on_a_thousand_curves),
        cmocka_unit_test(a_climb_finds_the_saturation_point_and_stops_soon_above_it),
        cmocka_unit_test(a_climb_ends_where_requests_fail),
        cmocka_unit_test(a_hint_from_a_shorter_context_saves_measurements),
        cmocka_unit_test(a_hint_from_an_earlier_repetition_saves_measurements),
        cmocka_unit_test(with_noise_a_search_agrees_with_its_grid_better_than_another_grid_does),
        cmocka_unit_test(finds_the_saturation_point_of_nearly_all_curves_with_a_decline),
        cmocka_unit_test(with_failures_a_search_agrees_with_the_full_grid_and_rarely_ends_a_sweep),
        cmocka_unit_test(finds_out_that_all_levels_meet_the_limits_or_that_none_does),
        cmocka_unit_test(a_miss_by_chance_at_the_smallest_load_does_not_hide_the_limit),
        cmocka_unit_test(the_load_above_one_that_barely_misses_a_limit_is_measured),
        cmocka_unit_test(gives_up_if_nothing_succeeds),
        cmocka_unit_test(finds_what_a_full_grid_of_few_levels_finds),
        cmocka_unit_test(a_lost_level_below_the_only_sound_one_is_not_measured_again),
        cmocka_unit_test(search_most_grows_slowly_with_the_number_of_levels),
        cmocka_unit_test(says_why_a_level_need_not_be_measured),
        cmocka_unit_test(uses_the_same_saturation_share_as_the_report),
        cmocka_unit_test(the_report_agrees_with_the_search),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
