// SPDX-License-Identifier: Apache-2.0
// Counts the tokens that a string, or any other value as JSON, takes in a model's context.
import { encode } from 'gpt-tokenizer/encoding/o200k_base';

export const tokens = (value) => encode(typeof value === 'string' ? value : JSON.stringify(value)).length;
