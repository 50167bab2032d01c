/* SPDX-License-Identifier: Apache-2.0 */
/* Asks the user questions at the terminal: those of a tool call, and the command line's own. */
#pragma once

#include <jansson.h>
#include <stdbool.h>

/* Shows the forms among `requests` (inputRequests of MCP 2026-07-28) on standard error, and reads
 * the answers from standard input. Declines all other requests and, if standard input is not a
 * terminal, the forms, too. Returns a new reference to inputResponses. */
json_t *person_answer(const json_t *requests);
/* Asks a yes-or-no question. True: the answer is "y" or "yes", in upper or lower case; any
 * other answer, or the end of the input, means no. */
bool person_confirm(const char *question);
