/* SPDX-License-Identifier: Apache-2.0 */
/* Passes a call's questions to the user at the terminal. */
#pragma once

#include <jansson.h>
#include <stdbool.h>

/* Asks the forms among `requests` (inputRequests of 2026-07-28) on standard error, and reads the
 * answers from standard input. Declines other requests; forms, too, if standard input is not a
 * terminal. New reference: inputResponses. */
json_t *person_answer(const json_t *requests);
/* Asks a yes-or-no question; anything but "y" or "yes" means no, as does the end of the input. */
bool person_confirm(const char *question);
