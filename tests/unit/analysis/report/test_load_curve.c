/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the saturation verdict on computed servers, whose true saturation is known. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "analysis/report/load_curve.h"

#define MODELS 110
#define GRIDS 30 /* for each model */
#define LOADS 12

/* ---- Servers --------------------------------------------------------------------------------- */

enum kind {
    SLOTS,   /* a limited batch and a queue for the rest; a larger batch may have slower steps */
    GATE,    /* like SLOTS, but the queue is in front of the server and not in its counters */
    MEMORY,  /* few requests fit into the KV cache */
    BATCH,   /* each request in the batch makes every step longer */
    COMPUTE, /* steps take the same time up to some batch size, and longer beyond it */
    PREFILL, /* prompts are computed one after the other */
    SHARED_PREFILL, /* prompts slow one another down */
    RATE,           /* a proxy admits a limited number of requests per second */
    DECLINING, /* steps get longer with the square of the batch: tokens/s fall beyond the peak */
    THRASHING, /* tokens/s fall as soon as requests wait */
    PADDED,    /* batches are padded to a power of two or, beyond 8, a multiple of 8 */
    KINDS
};

/* A model of a server, not a language model. */
struct model {
    enum kind kind;
    double slots;               /* the largest batch */
    double prefill_s;           /* how long one prompt takes */
    double step_s, step_more_s; /* how long a decoding step takes: see step_s() */
    double output_tokens;       /* per request */
    double rate;                /* requests admitted per second; only for RATE */
};

/* What a perfect measurement of the server would show at one load. */
struct shown {
    double tokens_per_s, ttft_s, e2e_s, waiting;
};

static double padded(double batch)
{
    double size = 1;

    while (size < batch)
        size = size < 8 ? size * 2 : size + 8;
    return size;
}

static double step_s(const struct model *model, double batch)
{
    if (model->kind == COMPUTE)
        return fmax(model->step_s, model->step_more_s * batch);
    if (model->kind == DECLINING)
        return model->step_s + model->step_more_s * batch * batch / 50;
    return model->step_s + model->step_more_s * (model->kind == PADDED ? padded(batch) : batch);
}

/* Mean value analysis (Reiser, Lavenberg 1980): one queue for prompts, with decoding as a delay. */
static double serial_prefill_s(const struct model *model, double batch, double decode_s)
{
    double queue = 0, prefill_s = model->prefill_s;

    for (int users = 1; users <= batch; users++) {
        prefill_s = model->prefill_s * (1 + queue);
        queue = users * prefill_s / (decode_s + prefill_s);
    }
    return prefill_s;
}

static double in_service_s(const struct model *model, double load, double *decode_s)
{
    double batch = fmin(load, model->slots);

    *decode_s = model->output_tokens * step_s(model, batch);
    if (model->kind == THRASHING && load > batch)
        *decode_s *= 1 + 0.02 * (load - batch);
    if (model->kind == PREFILL)
        return *decode_s + serial_prefill_s(model, batch, *decode_s);
    if (model->kind == SHARED_PREFILL)
        return *decode_s + model->prefill_s * (0.2 + 0.8 * batch);
    return *decode_s + model->prefill_s;
}

static struct shown show(const struct model *model, double load)
{
    double batch = fmin(load, model->slots), decode_s;
    double requests_per_s = batch / in_service_s(model, load, &decode_s);
    bool is_counted = model->kind != GATE && model->kind != RATE;

    if (model->kind == RATE)
        requests_per_s = fmin(requests_per_s, model->rate);
    return (struct shown){ .tokens_per_s = requests_per_s * model->output_tokens,
                           .e2e_s = load / requests_per_s,
                           .ttft_s = load / requests_per_s - decode_s,
                           .waiting = is_counted ? load - batch : 0 };
}

/* The smallest load whose tokens/s reach 95 % of the peak. */
static double true_saturation(const struct model *model)
{
    double peak = 0, load = 1;

    for (int i = 1; i <= 4096; i++)
        peak = fmax(peak, show(model, i).tokens_per_s);
    while (show(model, load).tokens_per_s < SATURATION_SHARE * peak)
        load++;
    return load;
}

/* ---- Random models and measurements ---------------------------------------------------------- */

static double uniform(unsigned *seed)
{
    return (rand_r(seed) + 0.5) / ((double)RAND_MAX + 1);
}

static double between(unsigned *seed, double low, double high)
{
    return low * pow(high / low, uniform(seed));
}

static double normal(unsigned *seed)
{
    return sqrt(-2 * log(uniform(seed))) * cos(2 * M_PI * uniform(seed));
}

static struct model model_number(int number)
{
    unsigned seed = (unsigned)number * 7919 + 13;
    struct model model = { .kind = (enum kind)(number % KINDS),
                           .slots = 512,
                           .output_tokens = floor(between(&seed, 8, 300)),
                           .step_s = between(&seed, 0.002, 0.05),
                           .prefill_s = between(&seed, 0.01, 2),
                           .rate = between(&seed, 0.5, 50) };

    if (model.kind == SLOTS || model.kind == GATE || model.kind == THRASHING)
        model.slots = round(between(&seed, 1, 300));
    if (model.kind == MEMORY || model.kind == SHARED_PREFILL)
        model.slots = round(between(&seed, 2, 80));
    if (model.kind == PREFILL)
        model.prefill_s /= 4;
    if (model.kind != MEMORY && model.kind != PREFILL && model.kind != RATE && number % 3 > 0)
        model.step_more_s = model.step_s / between(&seed, 2, 200);
    if (model.kind == BATCH || model.kind == COMPUTE || model.kind == DECLINING)
        model.step_more_s = model.step_s / between(&seed, 2, 100);
    return model;
}

static size_t add_load(double load, double *loads, size_t count)
{
    if (count == 0 || round(load) > loads[count - 1])
        loads[count++] = round(load);
    return count;
}

/* Draws a grid of up to LOADS loads, the first of which is one user or more. Each load is the
 * previous one times a factor. The factor is two, or four, or chosen so that the last load is about
 * 0.4 to 10 times saturation; it can also vary from load to load. If `doubling` is true, the factor
 * is always two. */
static size_t draw_grid(double saturation, bool doubling, unsigned *seed, double loads[LOADS])
{
    size_t wanted = 2 + (size_t)(uniform(seed) * (LOADS - 1)), count = 0;
    double low = uniform(seed) < 0.7 ? 1 : ceil(between(seed, 1, fmax(1.5, saturation / 2)));
    double high = fmax(low + 3, saturation * between(seed, 0.4, 10));
    double factor = pow(high / low, 1 / (double)(wanted - 1)), style = uniform(seed);

    if (doubling || style < 0.3)
        factor = doubling || style < 0.15 ? 2 : 4;
    for (double load = low; count < wanted && load <= 2048; load *= factor) {
        count = add_load(load, loads, count);
        if (!doubling && style > 0.7)
            load *= between(seed, 0.6, 1.6);
        factor = fmax(factor, (load + 1) / load);
    }
    return count;
}

struct measured {
    struct load_point points[LOADS];
    size_t count;
};

struct noise {
    double share;   /* the standard deviation of each figure, as a share of the figure */
    double widened; /* the width of the stated interval, divided by its true width; large for
                       short windows with few requests */
};

static void measure(const struct model *model, const double *loads, size_t count,
                    struct noise noise, bool counts_waiting, unsigned *seed, struct measured *out)
{
    out->count = count;
    for (size_t i = 0; i < count; i++) {
        struct shown shown = show(model, loads[i]);
        double off = 1 + noise.share * normal(seed);

        out->points[i] = (struct load_point){
            .load = loads[i],
            .tokens_per_s = shown.tokens_per_s * off,
            .noise = fmax(0.005, 2 * noise.share * noise.widened),
            .ttft_ms = 1000 * shown.ttft_s * (1 + noise.share * normal(seed)),
            .e2e_ms = 1000 * shown.e2e_s / off,
            .waiting = counts_waiting ? shown.waiting : NAN,
        };
    }
}

/* ---- Servers of all kinds -------------------------------------------------------------------- */

struct score {
    size_t grids, wrong;
    size_t enclosed; /* grids that range from at most saturation to at least twice saturation */
    size_t bounded;  /* of the enclosed grids, those whose interval has an upper end */
    double widths;   /* sum of log(high / low) over the bounded grids */
};

static void judge_grid(const struct model *model, double saturation, struct noise noise,
                       unsigned seed, struct score *score)
{
    double loads[LOADS];
    bool counts_waiting = seed % 2 == 0;
    size_t count = draw_grid(saturation, model->kind == PADDED, &seed, loads);
    struct measured measured;
    struct load_verdict verdict;

    if (count < 2)
        return;
    measure(model, loads, count, noise, counts_waiting, &seed, &measured);
    verdict = load_curve_judge(measured.points, count, false);
    score->grids++;
    if (verdict.low > saturation || verdict.high < saturation) {
        score->wrong++;
        printf("kind %d saturates at %g, but was judged to saturate at %g to %g; tokens/s by load:",
               model->kind, saturation, verdict.low, verdict.high);
        for (size_t i = 0; i < count; i++)
            printf(" %g: %.4g", loads[i], measured.points[i].tokens_per_s);
        printf("\n");
    }
    if (loads[0] > saturation || loads[count - 1] < 2 * saturation)
        return;
    score->enclosed++;
    score->bounded += verdict.reached;
    score->widths += verdict.reached ? log(verdict.high / verdict.low) : 0;
}

static void judge_all(struct noise noise, struct score scores[KINDS], struct score *all)
{
    for (int number = 0; number < MODELS; number++) {
        struct model model = model_number(number);
        double saturation = true_saturation(&model);

        for (int grid = 0; grid < GRIDS; grid++)
            judge_grid(&model, saturation, noise, (unsigned)(number * 1000 + grid + 1),
                       &scores[model.kind]);
    }
    for (int kind = 0; kind < KINDS; kind++) {
        struct score *score = &scores[kind];

        printf("noise %g, kind %2d: wrong %zu of %zu, bounded %zu of %zu, mean width a factor of "
               "%.2f\n",
               noise.share, kind, score->wrong, score->grids, score->bounded, score->enclosed,
               exp(score->widths / (double)score->bounded));
        all->grids += score->grids;
        all->wrong += score->wrong;
        all->enclosed += score->enclosed;
        all->bounded += score->bounded;
    }
}

static double mean_width(const struct score *score)
{
    return exp(score->widths / (double)score->bounded);
}

static void
without_noise_the_interval_contains_saturation_and_is_narrow_for_four_kinds(void **state)
{
    struct score scores[KINDS] = { 0 }, all = { 0 };

    (void)state;
    judge_all((struct noise){ 0, 1 }, scores, &all);
    assert_true(all.grids > 3000);
    assert_int_equal(all.wrong, 0);
    assert_true((double)all.bounded > 0.95 * (double)all.enclosed);
    assert_true(mean_width(&scores[SLOTS]) < 2);
    assert_true(mean_width(&scores[MEMORY]) < 2);
    assert_true(mean_width(&scores[RATE]) < 2);
    assert_true(mean_width(&scores[BATCH]) < 5);
}

static void with_small_noise_the_interval_seldom_misses_saturation(void **state)
{
    struct score scores[KINDS] = { 0 }, all = { 0 };

    (void)state;
    judge_all((struct noise){ 0.01, 1 }, scores, &all);
    assert_true((double)all.wrong <= 0.002 * (double)all.grids);
    assert_true((double)all.bounded > 0.9 * (double)all.enclosed);
    assert_true(mean_width(&scores[SLOTS]) < 2.7);
}

/* A figure whose stated interval is at least as wide as the figure itself must not count as
 * certain. Large noise that is stated correctly must not be underestimated. */
static void with_large_noise_the_interval_seldom_misses_saturation(void **state)
{
    static const struct noise noises[] = { { 0.05, 10 }, { 0.1, 30 }, { 0.15, 1 } };

    (void)state;
    for (size_t i = 0; i < sizeof noises / sizeof noises[0]; i++) {
        struct score scores[KINDS] = { 0 }, all = { 0 };

        judge_all(noises[i], scores, &all);
        assert_true((double)all.wrong <= 0.01 * (double)all.grids);
        assert_true((double)all.bounded > 0.7 * (double)all.enclosed);
    }
}

/* ---- Single grids ---------------------------------------------------------------------------- */

static const struct model four_slots = {
    .kind = SLOTS, .slots = 4, .prefill_s = 0.02, .step_s = 0.01, .output_tokens = 64
};

static struct load_verdict judge(const struct model *model, const double *loads, size_t count,
                                 bool counts_waiting, struct measured *measured)
{
    unsigned seed = 1;

    measure(model, loads, count, (struct noise){ 0, 1 }, counts_waiting, &seed, measured);
    return load_curve_judge(measured->points, count, false);
}

static void one_and_sixteen_users_bound_the_saturation_of_four_slots(void **state)
{
    const double loads[] = { 1, 16 };
    struct measured measured;
    double next[LOADS_TO_MEASURE];

    (void)state;
    for (int counts_waiting = 0; counts_waiting < 2; counts_waiting++) {
        struct load_verdict verdict = judge(&four_slots, loads, 2, counts_waiting, &measured);

        assert_true(verdict.reached);
        assert_true(verdict.low == 4);
        assert_true(verdict.high == 16);
        assert_int_equal(verdict.at, 1);
        assert_float_equal(verdict.at_once, 4, 0.2);
        assert_int_equal(load_curve_next(measured.points, 2, false, &verdict, next), 3);
        assert_true(next[0] == 6 && next[1] == 8 && next[2] == 12);
    }
}

static void the_suggested_loads_narrow_the_interval_to_one_load(void **state)
{
    double loads[LOADS] = { 1, 16 }, next[LOADS_TO_MEASURE];
    struct measured measured;
    struct load_verdict verdict;
    size_t count = 2, more;

    (void)state;
    do {
        verdict = judge(&four_slots, loads, count, false, &measured);
        more = load_curve_next(measured.points, count, false, &verdict, next);
        for (size_t i = 0; i < more; i++) {
            size_t at = count++;

            for (; loads[at - 1] > next[i]; at--)
                loads[at] = loads[at - 1];
            loads[at] = next[i];
        }
    } while (more > 0 && count < LOADS - LOADS_TO_MEASURE);
    assert_int_equal(more, 0);
    assert_true(verdict.low == 4 && verdict.high == 4);
}

static void throughput_that_grows_with_the_users_is_not_saturated(void **state)
{
    const double loads[] = { 1, 2, 3 };
    struct measured measured;
    struct load_verdict verdict = judge(&four_slots, loads, 3, true, &measured);
    double next[LOADS_TO_MEASURE];

    (void)state;
    assert_false(verdict.reached);
    assert_true(verdict.low > 2 && isinf(verdict.high));
    assert_true(isinf(verdict.at_once));
    assert_int_equal(load_curve_next(measured.points, 3, false, &verdict, next), 2);
    assert_true(next[0] == 6 && next[1] == 12);
}

static void loads_that_are_all_above_saturation_bound_it_from_above(void **state)
{
    const double loads[] = { 10, 20 };
    struct measured measured;
    struct load_verdict verdict = judge(&four_slots, loads, 2, true, &measured);

    (void)state;
    assert_true(verdict.reached);
    assert_true(verdict.low == 1 && verdict.high == 10);
    assert_float_equal(verdict.at_once, 4, 0.1);
}

/* With four times as many users, each waits twice as long for the first token. Prompts that are
 * computed together have this effect far from saturation. */
static void later_first_tokens_alone_are_not_a_queue(void **state)
{
    const struct load_point points[] = {
        { 1, 10, 0.005, 1000, 1000, NAN, false, false },
        { 2, 15, 0.005, 1333, 1333, NAN, false, false },
        { 4, 20, 0.005, 2000, 2000, NAN, false, false },
    };
    struct load_verdict verdict = load_curve_judge(points, 3, false);

    (void)state;
    assert_false(verdict.reached);
    assert_true(isinf(verdict.at_once));
}

static void an_open_loop_saturates_where_its_queue_grows(void **state)
{
    const struct load_point points[] = {
        { 0.5, 50, 0.005, 20, 500, NAN, false, false },
        { 2.5, 250, 0.005, 20, 500, NAN, false, false },
        { 10, 400, 0.005, 9000, 9500, NAN, true, false },
    };
    struct load_verdict verdict = load_curve_judge(points, 3, true);
    double next[LOADS_TO_MEASURE];

    (void)state;
    assert_true(verdict.reached);
    assert_true(verdict.low > 3.7 && verdict.low <= 3.8 && verdict.high == 10);
    assert_int_equal(load_curve_next(points, 3, true, &verdict, next), 3);
    assert_true(next[0] == 4 && next[1] == 6 && next[2] == 8);
    assert_false(load_curve_judge(points, 2, true).reached);
}

/* The client was late at two users, so the low tokens/s there prove nothing about the server. */
static void a_load_at_which_the_client_was_late_sets_no_bound(void **state)
{
    struct load_point points[] = {
        { 1, 10, 0.005, 20, 1000, NAN, false, false },
        { 2, 12, 0.005, 20, 1667, NAN, false, true },
        { 8, 60, 0.005, 20, 1333, NAN, false, false },
    };

    (void)state;
    assert_true(load_curve_judge(points, 3, false).low == 6);
    points[1].at_least = false;
    assert_true(load_curve_judge(points, 3, false).low == 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            without_noise_the_interval_contains_saturation_and_is_narrow_for_four_kinds),
        cmocka_unit_test(with_small_noise_the_interval_seldom_misses_saturation),
        cmocka_unit_test(with_large_noise_the_interval_seldom_misses_saturation),
        cmocka_unit_test(one_and_sixteen_users_bound_the_saturation_of_four_slots),
        cmocka_unit_test(the_suggested_loads_narrow_the_interval_to_one_load),
        cmocka_unit_test(throughput_that_grows_with_the_users_is_not_saturated),
        cmocka_unit_test(loads_that_are_all_above_saturation_bound_it_from_above),
        cmocka_unit_test(later_first_tokens_alone_are_not_a_queue),
        cmocka_unit_test(an_open_loop_saturates_where_its_queue_grows),
        cmocka_unit_test(a_load_at_which_the_client_was_late_sets_no_bound),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
