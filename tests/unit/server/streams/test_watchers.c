/* SPDX-License-Identifier: Apache-2.0 */
/* Open browser tabs: each receives the names of what has changed, until the tab is closed or its
 * browser is signed out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <pthread.h>

#include "server/http/sse_queue.h"
#include "server/streams/watchers.h"
#include "tests/unit/support/served.h"

#define TABS 3
#define WATCHERS_MAX 2000
#define PER_PRINCIPAL_MAX 200
#define ROUNDS 200

static struct served served; /* needed for its event loop */
static struct watchers *watchers;
static const uint8_t ada[DIGEST_BYTES] = { 1 }, eve[DIGEST_BYTES] = { 2 };

static int start(void **state)
{
    (void)state;
    served_create(&served);
    served_start(&served, NULL);
    watchers = watchers_create();
    return 0;
}

static int stop(void **state)
{
    (void)state;
    watchers_destroy(watchers);
    served_destroy(&served);
    return 0;
}

static struct sse_queue *open_tab_of(const char *principal, const uint8_t session[DIGEST_BYTES])
{
    struct sse_queue *tab = sse_queue_create(served.server->http->loops[0], NULL, NULL);
    struct error error;

    assert_true(watchers_add(watchers, tab, principal, session, &error));
    return tab;
}

static struct sse_queue *open_tab(const uint8_t session[DIGEST_BYTES])
{
    return open_tab_of("local", session);
}

/* Ends the tab's queue as if its connection were closed. (Only the loop's thread is allowed to call
 * sse_queue_close.) */
static void close_tab(struct sse_queue *tab)
{
    sse_queue_supersede(tab);
    sse_queue_release(tab);
}

/* Reads what the tab has received. Returns SSE_QUEUE_EMPTY if it has received nothing. */
static enum sse_queue_state read_tab(struct sse_queue *tab, char out[64])
{
    size_t length = 0;
    enum sse_queue_state found = sse_queue_read(tab, out, 63, &length);

    out[length] = '\0';
    return found;
}

static void every_tab_is_notified_of_changes(void **state)
{
    struct sse_queue *tabs[TABS];
    char heard[64];

    (void)state;
    assert_false(watchers_any(watchers));
    for (size_t i = 0; i < TABS; i++)
        tabs[i] = open_tab(i == 0 ? NULL : ada);
    assert_true(watchers_any(watchers));
    watchers_notify(watchers, "[\"sim\"]", 7);
    for (size_t i = 0; i < TABS; i++) {
        assert_int_equal(read_tab(tabs[i], heard), SSE_QUEUE_READ);
        assert_string_equal(heard, "data: [\"sim\"]\n\n");
        close_tab(tabs[i]);
    }
    watchers_notify(watchers, "[\"sim\"]", 7);
    assert_false(watchers_any(watchers));
}

static void signing_out_ends_the_tabs_of_that_browser(void **state)
{
    struct sse_queue *tabs[TABS] = { open_tab(ada), open_tab(eve), open_tab(NULL) };
    char heard[64];

    (void)state;
    watchers_end(watchers, ada);
    assert_int_equal(read_tab(tabs[0], heard), SSE_QUEUE_ENDED);
    watchers_notify(watchers, "[]", 2);
    for (size_t i = 1; i < TABS; i++)
        assert_int_equal(read_tab(tabs[i], heard), SSE_QUEUE_READ);
    for (size_t i = 0; i < TABS; i++)
        close_tab(tabs[i]);
}

static void the_2001st_tab_is_refused_until_another_is_closed(void **state)
{
    struct sse_queue *first = open_tab(NULL), *tabs[WATCHERS_MAX - 1], *late;
    struct error error;
    char name[16];

    (void)state;
    for (size_t i = 0; i < WATCHERS_MAX - 1; i++) {
        snprintf(name, sizeof name, "p%zu", i % 11);
        tabs[i] = open_tab_of(name, NULL);
    }
    late = sse_queue_create(served.server->http->loops[0], NULL, NULL);
    assert_false(watchers_add(watchers, late, "local", NULL, &error));
    assert_int_equal(error.kind, ERROR_BUSY);
    assert_string_equal(error.message, "2000 pages are kept up to date, which is the maximum: "
                                       "reload this page to see changes");
    close_tab(first);
    assert_true(watchers_add(watchers, late, "local", NULL, &error));
    close_tab(late);
    for (size_t i = 0; i < WATCHERS_MAX - 1; i++)
        close_tab(tabs[i]);
}

static void one_principal_cannot_use_up_the_limit_for_all(void **state)
{
    struct sse_queue *tabs[PER_PRINCIPAL_MAX], *late, *other;
    struct error error;

    (void)state;
    for (size_t i = 0; i < PER_PRINCIPAL_MAX; i++)
        tabs[i] = open_tab_of("eve", i % 2 == 0 ? eve : NULL);
    late = sse_queue_create(served.server->http->loops[0], NULL, NULL);
    assert_false(watchers_add(watchers, late, "eve", eve, &error));
    assert_int_equal(error.kind, ERROR_BUSY);
    assert_string_equal(error.message, "eve has 200 pages open that are kept up to date, which is "
                                       "the maximum: close some");
    other = open_tab_of("ada", ada);
    close_tab(other);
    close_tab(late);
    for (size_t i = 0; i < PER_PRINCIPAL_MAX; i++)
        close_tab(tabs[i]);
}

static void *come_and_go(void *context)
{
    for (size_t i = 0; i < ROUNDS; i++)
        close_tab(open_tab(context));
    return NULL;
}

static void *notify(void *context)
{
    (void)context;
    for (size_t i = 0; i < ROUNDS; i++) {
        watchers_notify(watchers, "[]", 2);
        watchers_end(watchers, ada);
    }
    return NULL;
}

static void tabs_can_be_added_and_removed_on_any_thread(void **state)
{
    pthread_t threads[3];

    (void)state;
    pthread_create(&threads[0], NULL, come_and_go, (void *)(uintptr_t)ada);
    pthread_create(&threads[1], NULL, come_and_go, (void *)(uintptr_t)eve);
    pthread_create(&threads[2], NULL, notify, NULL);
    for (size_t i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    watchers_notify(watchers, "[]", 2);
    assert_false(watchers_any(watchers));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(every_tab_is_notified_of_changes),
        TEST(signing_out_ends_the_tabs_of_that_browser),
        TEST(the_2001st_tab_is_refused_until_another_is_closed),
        TEST(one_principal_cannot_use_up_the_limit_for_all),
        TEST(tabs_can_be_added_and_removed_on_any_thread),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
