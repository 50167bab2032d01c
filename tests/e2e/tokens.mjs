// SPDX-License-Identifier: Apache-2.0
// What a text, or a value as JSON, costs of a model's context.
import { encode } from 'gpt-tokenizer/encoding/o200k_base';

export const tokens = (value) => encode(typeof value === 'string' ? value : JSON.stringify(value)).length;
