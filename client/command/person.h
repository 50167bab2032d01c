/* SPDX-License-Identifier: Apache-2.0 */
/* Passes a call's questions to the user at the terminal. */
#pragma once

#include <jansson.h>
#include <stdbool.h>

/* Asks each of `requests` (inputRequests of 2026-07-28) on standard error, and reads the answers
 * from standard input. New reference: inputResponses. Requests other than forms are declined; so
 * are forms if standard input is not a terminal. */
json_t *person_answer(const json_t *requests);
/* Asks a yes-or-no question; anything but "y" or "yes" means no, as does the end of the input. */
bool person_confirm(const char *question);
