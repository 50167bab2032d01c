/* SPDX-License-Identifier: Apache-2.0 */
/* What a call asks its person, on the terminal. */
#pragma once

#include <jansson.h>
#include <stdbool.h>

/* Asks each of `requests` (inputRequests of 2026-07-28) on standard error, and reads the answers
 * from standard input. New reference: inputResponses. Whatever is not a form is declined. */
json_t *person_answer(const json_t *requests);
/* Asks a question whose answer is yes or no; the end of the input is no. */
bool person_confirm(const char *question);
