/* SPDX-License-Identifier: Apache-2.0 */
/* Counts calls that are too frequent for a row each. Private to store/. */
#pragma once

struct audit_tally;
struct store;

struct audit_tally *audit_tally_create(void);
void audit_tally_destroy(struct audit_tally *tally); /* NULL is fine */
/* Writes all counts of the store. Call it before its databases are closed. */
void audit_tally_close(struct store *store);
