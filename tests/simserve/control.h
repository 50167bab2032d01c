/* SPDX-License-Identifier: Apache-2.0 */
/* Answers the requests under /sim: the settings, the record of what really happened, and a reset.
 */
#pragma once

#include "tests/simserve/connection.h"

void control_config_show(struct connection *connection);
void control_config_apply(struct connection *connection);
void control_truth(struct connection *connection);
void control_lag(struct connection *connection);
void control_summary(struct connection *connection);
void control_reset(struct connection *connection);
