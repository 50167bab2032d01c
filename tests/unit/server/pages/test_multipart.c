/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "server/pages/multipart.h"

/* Checks what is read; `wanted` lists the fields as "name=value|name=value". If there is a file,
 * "#" and its content follow. */
static void must_be(const char *bytes, const char *wanted)
{
    struct form form = { 0 };
    TEXT_AUTO found = { 0 };
    const char *file;
    size_t file_bytes;

    multipart_read(&form, "B", bytes, strlen(bytes), &file, &file_bytes);
    for (size_t i = 0; i < form.count; i++)
        text_addf(&found, "%s%s=%s", i > 0 ? "|" : "", form.at[i].name, form.at[i].value);
    if (file != NULL)
        text_addf(&found, "#%.*s", (int)file_bytes, file);
    form_finish(&form);
    assert_string_equal(text_string(&found), wanted);
}

#define FIELD(name, value)                                                                         \
    "--B\r\nContent-Disposition: form-data; name=\"" name "\"\r\n\r\n" value "\r\n"
#define FILE_FIELD(file_name, content)                                                             \
    "--B\r\nContent-Disposition: form-data; name=\"file\"; filename=\"" file_name                  \
    "\"\r\nContent-Type: text/csv\r\n\r\n" content "\r\n"

static void fields_and_a_file_are_read(void **state)
{
    (void)state;
    must_be(FIELD("a", "1") FIELD("b", "two\r\nlines") "--B--\r\n", "a=1|b=two\nlines");
    must_be(FIELD("a", "1") FILE_FIELD("r.csv", "x,y\r\n1,2") "--B--", "a=1|file=r.csv#x,y\r\n1,2");
    must_be(FILE_FIELD("", "") "--B--", "file=");
    must_be(FIELD("a", "") "--B--", "a=");
}

static void only_complete_fields_with_a_name_are_read(void **state)
{
    (void)state;
    must_be("", "");
    must_be("--", "");
    must_be("--B", "");
    must_be("--B--", "");
    must_be("--C\r\n\r\n\r\n", "");
    must_be("--B\r\nno end", "");
    must_be("--B\r\n\r\n--B--", "");
    must_be(FIELD("a", "1"), "");
    must_be(FIELD("a", "1") "--B\r\nContent-Disposition: form-data; name=\"b\r\n\r\n2\r\n--B--",
            "a=1");
    must_be("--B\r\nContent-Disposition: form-data\r\n\r\nx\r\n--B--", "");
    must_be(FIELD("a", "1") FIELD("b", "2"), "a=1");
}

static void the_boundary_is_taken_from_the_content_type(void **state)
{
    char boundary[MULTIPART_BOUNDARY_SIZE] = "";

    (void)state;
    assert_true(multipart_boundary("multipart/form-data; boundary=----x1", boundary));
    assert_string_equal(boundary, "----x1");
    assert_true(multipart_boundary("Multipart/Form-Data; charset=a; boundary=\"q\"", boundary));
    assert_string_equal(boundary, "q");
    assert_false(multipart_boundary(NULL, boundary));
    assert_false(multipart_boundary("multipart/form-data", boundary));
    assert_false(multipart_boundary("multipart/form-data; boundary=", boundary));
    assert_false(multipart_boundary("text/plain; boundary=x", boundary));
    assert_false(multipart_boundary(
        "multipart/form-data; boundary=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
        "aaaaaaaaaaaaaaaa",
        boundary));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_and_a_file_are_read),
        cmocka_unit_test(only_complete_fields_with_a_name_are_read),
        cmocka_unit_test(the_boundary_is_taken_from_the_content_type),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
