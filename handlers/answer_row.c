/* SPDX-License-Identifier: Apache-2.0 */
#include "handlers/answer_row.h"

#include "handlers/answer.h"

json_t *answer_row_text(const void *member)
{
    return json_string(member);
}

json_t *answer_row_text_or_null(const void *member)
{
    return answer_json_text(member);
}

json_t *answer_row_heap_text_or_null(const void *member)
{
    return answer_json_text(*(char *const *)member);
}

json_t *answer_row_integer(const void *member)
{
    return json_integer((json_int_t) * (const int64_t *)member);
}

json_t *answer_row_integer_or_null(const void *member)
{
    return *(const int64_t *)member == 0 ? json_null() : answer_row_integer(member);
}

json_t *answer_row_number(const void *member)
{
    return json_real(*(const double *)member);
}

json_t *answer_row_time(const void *member)
{
    return answer_json_time(*(const int64_t *)member);
}

json_t *answer_row_json(const void *member)
{
    return answer_json_stored(member);
}

json_t *answer_row_heap_json(const void *member)
{
    return answer_json_stored(*(char *const *)member);
}

json_t *answer_row_take(const struct field *fields, const void *row, json_t *others)
{
    json_t *object = json_object();

    for (const struct field *field = fields; field->name != NULL; field++) {
        json_t *other = json_object_get(others, field->name);

        if (field->show != NULL)
            json_object_set_new(object, field->name,
                                field->show((const char *)row + field->offset));
        else if (other != NULL)
            json_object_set(object, field->name, other);
    }
    json_decref(others);
    return object;
}
