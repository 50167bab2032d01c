/* SPDX-License-Identifier: Apache-2.0 */
/* Counts calls that are too frequent to get a row each in the audit log. Private to store/. */
#pragma once

struct audit_tally;
struct store;

struct audit_tally *audit_tally_create(void);
void audit_tally_destroy(struct audit_tally *tally); /* NULL is fine */
/* Writes all counts of the store; if that fails, they are lost, and the log says so. Call it before
 * the store's databases are closed. */
void audit_tally_close(struct store *store);
