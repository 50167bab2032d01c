// SPDX-License-Identifier: Apache-2.0
// How many tokens of a model's context a text, or a value as JSON, costs.
import { encode } from 'gpt-tokenizer/encoding/o200k_base';

export const tokens = (value) => encode(typeof value === 'string' ? value : JSON.stringify(value)).length;
