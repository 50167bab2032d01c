/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/formats/html.h"

#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static void assert_text(const char *string, const char *expected)
{
    TEXT_AUTO out = { 0 };
    struct html html = html_begin(&out);

    html_text(&html, string);
    html_finish(&html);
    assert_string_equal(text_string(&out), expected);
}

static void assert_link(const char *url, const char *expected)
{
    TEXT_AUTO out = { 0 };
    struct html html = html_begin(&out);

    html_element(&html, "a", "x", { "href", url });
    html_finish(&html);
    assert_string_equal(text_string(&out), expected);
}

static void writes_elements_with_attributes(void **state)
{
    TEXT_AUTO out = { 0 };
    struct html html = html_begin(&out);

    (void)state;
    html_open(&html, "p", { "class", "note" }, { "hidden", "" }, { "lang", NULL });
    html_textf(&html, "%d of ", 3);
    html_element(&html, "b", "four");
    html_open(&html, "br");
    html_open(&html, "input", { "value", "1" });
    html_close(&html, "p");
    html_finish(&html);
    assert_string_equal(text_string(&out),
                        "<p class=\"note\" hidden>3 of <b>four</b><br><input value=\"1\"></p>");
}

static void text_is_never_markup(void **state)
{
    (void)state;
    assert_text("<script>alert(1)</script>", "&lt;script&gt;alert(1)&lt;/script&gt;");
    assert_text("a & b", "a &amp; b");
    assert_text("&lt;", "&amp;lt;");
    assert_text("", "");
}

static void a_value_cannot_end_its_attribute(void **state)
{
    TEXT_AUTO out = { 0 };
    struct html html = html_begin(&out);

    (void)state;
    html_open(&html, "img", { "alt", "\"><img onerror='x'" });
    html_finish(&html);
    assert_string_equal(text_string(&out), "<img alt=\"&quot;&gt;&lt;img onerror=&#39;x&#39;\">");
}

static void characters_that_cannot_be_shown_safely_are_replaced_or_dropped(void **state)
{
    (void)state;
    assert_text("a\x01\x1b[0m\x7f", "a\xef\xbf\xbd\xef\xbf\xbd[0m\xef\xbf\xbd");
    assert_text("\xff\xc0\xaf<", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd&lt;");
    assert_text("\xe2\x80\xaeright to left\xe2\x80\x8b", "right to left");
    assert_text("caf\xc3\xa9\n\t", "caf\xc3\xa9\n\t");
}

static void a_name_is_wrapped_in_a_bdi_element(void **state)
{
    TEXT_AUTO out = { 0 };
    struct html html = html_begin(&out);

    (void)state;
    html_name(&html, "\xd7\x90<");
    html_finish(&html);
    assert_string_equal(text_string(&out), "<bdi>\xd7\x90&lt;</bdi>");
}

static void links_only_to_http_and_relative_urls(void **state)
{
    static const char *const refused[] = {
        "javascript:alert(1)",   "JavaScript:alert(1)", "data:text/html,x", "//example.org/x",
        "java\tscript:alert(1)", " javascript:x",       "\x01javascript:x", "vbscript:x",
        "/\\example.org",        "\\\\example.org",     "http:example.org", "file:///etc/passwd",
        "caf\xc3\xa9",
    };

    (void)state;
    assert_link("/runs/run_1?a=1&b=2#c", "<a href=\"/runs/run_1?a=1&amp;b=2#c\">x</a>");
    assert_link("#table", "<a href=\"#table\">x</a>");
    assert_link("heat.svg?at=1:2", "<a href=\"heat.svg?at=1:2\">x</a>");
    assert_link("https://example.org/x", "<a href=\"https://example.org/x\">x</a>");
    assert_link("HTTP://example.org", "<a href=\"HTTP://example.org\">x</a>");
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        assert_link(refused[i], "<a>x</a>");
}

static void json_cannot_end_its_script(void **state)
{
    TEXT_AUTO out = { 0 };
    struct html html = html_begin(&out);

    (void)state;
    html_json(&html, "data", "{\"a\":\"</script><!--&\"}");
    html_json(&html, "bad", "\"\xff\"");
    html_finish(&html);
    assert_string_equal(text_string(&out),
                        "<script type=\"application/json\" id=\"data\">"
                        "{\"a\":\"\\u003c/script\\u003e\\u003c!--\\u0026\"}</script>"
                        "<script type=\"application/json\" id=\"bad\">null</script>");
}

static void trusted_markup_is_added_unchanged(void **state)
{
    TEXT_AUTO out = { 0 };
    struct html html = html_begin(&out);

    (void)state;
    html_add_trusted_markup(&html, "<svg/>more", 6);
    html_finish(&html);
    assert_string_equal(text_string(&out), "<svg/>");
}

static void close_a_different_element(struct html *html)
{
    html_open(html, "p");
    html_close(html, "div");
}

static void leave_an_element_open(struct html *html)
{
    html_open(html, "p");
    html_finish(html);
}

static void write_a_handler(struct html *html)
{
    html_open(html, "p", { "onclick", "x()" });
}

/* Whether `write` aborts the program. */
static bool aborts(void (*write)(struct html *html))
{
    TEXT_AUTO out = { 0 };
    struct html html = html_begin(&out);
    int status;
    pid_t child = fork();

    if (child == 0) {
        fclose(stderr);
        write(&html);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

static void misuse_by_the_caller_aborts_the_program(void **state)
{
    (void)state;
#ifdef NDEBUG
    skip();
#endif
    assert_true(aborts(close_a_different_element));
    assert_true(aborts(leave_an_element_open));
    assert_true(aborts(write_a_handler));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writes_elements_with_attributes),
        cmocka_unit_test(text_is_never_markup),
        cmocka_unit_test(a_value_cannot_end_its_attribute),
        cmocka_unit_test(characters_that_cannot_be_shown_safely_are_replaced_or_dropped),
        cmocka_unit_test(a_name_is_wrapped_in_a_bdi_element),
        cmocka_unit_test(links_only_to_http_and_relative_urls),
        cmocka_unit_test(json_cannot_end_its_script),
        cmocka_unit_test(trusted_markup_is_added_unchanged),
        cmocka_unit_test(misuse_by_the_caller_aborts_the_program),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
