/* SPDX-License-Identifier: Apache-2.0 */
/* Tests that each picture is drawn only once, even if many calls request it at the same time, and
 * that the memory for pictures is limited. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>
#include <pthread.h>

#include "analysis/charts/raster.h"
#include "handlers/charts/pictures.h"

#define THREADS 6

static void make_drawing(struct drawing *drawing, int number)
{
    char string[32];

    snprintf(string, sizeof string, "picture %d", number);
    drawing_init(drawing, 60, 40);
    drawing_text(drawing,
                 &(struct label){
                     .kind = TEXT_TITLE, .x = 2, .y = 30, .string = string, .paint = PAINT_INK });
}

/* Requests a picture, which is drawn or reused, and checks its bytes. Returns its size in bytes. */
static size_t request_picture(struct pictures *pictures, int number, enum theme theme)
{
    DRAWING_AUTO drawing;
    TEXT_AUTO png = { 0 }, expected = { 0 };
    struct error error;

    make_drawing(&drawing, number);
    assert_true(pictures_draw(pictures, &drawing, theme, &png, &error));
    assert_true(raster_write(&drawing, theme, &expected, &error));
    assert_int_equal(png.length, expected.length);
    assert_memory_equal(png.data, expected.data, png.length);
    return png.length;
}

static void assert_counts(struct pictures *pictures, uint64_t drawn, uint64_t reused)
{
    assert_int_equal(pictures_count(pictures).drawn, drawn);
    assert_int_equal(pictures_count(pictures).reused, reused);
}

static void the_same_picture_is_drawn_once(void **state)
{
    struct pictures *pictures = pictures_create(PICTURES_BYTES_MAX);

    (void)state;
    request_picture(pictures, 1, THEME_LIGHT);
    request_picture(pictures, 1, THEME_LIGHT);
    assert_counts(pictures, 1, 1);
    request_picture(pictures, 1, THEME_DARK);
    request_picture(pictures, 2, THEME_LIGHT);
    assert_counts(pictures, 3, 1);
    pictures_destroy(pictures);
}

static void the_least_recently_used_picture_makes_room(void **state)
{
    struct pictures *pictures = pictures_create(PICTURES_BYTES_MAX);
    size_t picture_bytes = request_picture(pictures, 1, THEME_LIGHT);

    (void)state;
    pictures_destroy(pictures);
    pictures = pictures_create(3 * picture_bytes + picture_bytes / 2);
    for (int i = 1; i <= 3; i++)
        request_picture(pictures, i, THEME_LIGHT);
    request_picture(pictures, 1, THEME_LIGHT); /* now picture 2 is the least recently used */
    assert_counts(pictures, 3, 1);
    request_picture(pictures, 4, THEME_LIGHT);
    assert_true(pictures_count(pictures).bytes <= 3 * picture_bytes + picture_bytes / 2);
    request_picture(pictures, 1, THEME_LIGHT);
    request_picture(pictures, 3, THEME_LIGHT);
    assert_counts(pictures, 4, 3);
    request_picture(pictures, 2, THEME_LIGHT);
    assert_counts(pictures, 5, 3);
    pictures_destroy(pictures);
}

static void a_picture_that_is_too_large_to_keep_is_drawn_each_time(void **state)
{
    struct pictures *pictures = pictures_create(10);

    (void)state;
    request_picture(pictures, 1, THEME_LIGHT);
    request_picture(pictures, 1, THEME_LIGHT);
    assert_counts(pictures, 2, 0);
    assert_int_equal(pictures_count(pictures).bytes, 0);
    request_picture(NULL, 1, THEME_LIGHT); /* NULL: no pictures are kept */
    assert_counts(NULL, 0, 0);
    pictures_destroy(pictures);
    pictures_destroy(NULL);
}

static void *draw_two(void *context)
{
    request_picture(context, 1, THEME_LIGHT);
    request_picture(context, 2, THEME_LIGHT);
    return NULL;
}

static void concurrent_calls_share_a_picture(void **state)
{
    struct pictures *pictures = pictures_create(PICTURES_BYTES_MAX);
    pthread_t threads[THREADS];

    (void)state;
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, draw_two, pictures), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_counts(pictures, 2, 2 * THREADS - 2);
    pictures_destroy(pictures);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_picture_is_drawn_once),
        cmocka_unit_test(the_least_recently_used_picture_makes_room),
        cmocka_unit_test(a_picture_that_is_too_large_to_keep_is_drawn_each_time),
        cmocka_unit_test(concurrent_calls_share_a_picture),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
