/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that several files of analysis/compare/ share. Private to that directory. */
#pragma once

#include "analysis/compare/compare.h"

/* Whether two numbers are equal, or both unknown. */
bool compare_alike(double a, double b);
/* For sorting: ascending, unknown values last. */
int compare_order(double a, double b);
