/* SPDX-License-Identifier: Apache-2.0 */
/* Questions to the user at the terminal: a call's, and the command line's own. */
#pragma once

#include <jansson.h>
#include <stdbool.h>

/* Asks the forms among `requests` (inputRequests of MCP 2026-07-28) on standard error, and reads
 * the answers from standard input. Declines other requests; forms, too, if standard input is not a
 * terminal. New reference: inputResponses. */
json_t *person_answer(const json_t *requests);
/* Asks a yes-or-no question. True: the answer is "y" or "yes", in small or capital letters; any
 * other answer, and the end of the input, mean no. */
bool person_confirm(const char *question);
