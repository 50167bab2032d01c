// SPDX-License-Identifier: Apache-2.0
// How hosts rewrite a tool's input schema before their model sees it, according to their published rules. openAiSchema and
// geminiSchema throw if the host would refuse the tool. They return JSON Schema, so that arguments can be checked against it.

// ---- OpenAI, strict function calling: every member is required, optional members can be null, objects are closed,
// and only a subset of JSON Schema is accepted (platform.openai.com/docs/guides/structured-outputs; openai-agents does the same).

const STRICT_WORDS = new Set(['type', 'description', 'properties', 'required', 'additionalProperties', 'items', 'enum', 'anyOf', 'minimum', 'maximum', 'minItems', 'maxItems', 'pattern', 'format']);
const STRICT_PROPERTIES = 5000;
const STRICT_DESCRIPTION = 1024; // the maximum length of a function's description, in characters

function strict(schema, where) {
    const { default: _, ...kept } = schema; // strict mode refuses a default, and OpenAI's SDKs drop it
    for (const word of Object.keys(kept)) if (!STRICT_WORDS.has(word)) throw new Error(`${where}: "${word}" is not accepted by strict mode`);
    if (kept.items) kept.items = strict(kept.items, `${where}[]`);
    if (kept.type !== 'object') return kept;
    if (kept.additionalProperties !== false) throw new Error(`${where}: free-form objects are not accepted by strict mode`);
    const names = Object.keys(kept.properties ?? {});
    if (names.length > STRICT_PROPERTIES) throw new Error(`${where}: ${names.length} properties are too many`);
    const needed = new Set(kept.required ?? []);
    const properties = names.map((name) => {
        const property = strict(kept.properties[name], `${where}.${name}`);
        return [name, needed.has(name) ? property : orNull(property)];
    });
    return { ...kept, properties: Object.fromEntries(properties), required: names };
}

function orNull(schema) {
    return { ...schema, type: [schema.type, 'null'], ...(schema.enum && { enum: [...schema.enum, null] }) };
}

export function openAiSchema({ name, description, inputSchema }) {
    if (!/^[a-zA-Z0-9_-]{1,64}$/.test(name)) throw new Error(`${name}: not a valid function name`);
    if (description.length > STRICT_DESCRIPTION) throw new Error(`${name}: its description is too long`);
    return strict(inputSchema, name);
}

// openAiArguments(schema, args, absent): the arguments as the model must send them. Each property of the schema has the value
// from `args` or, if there is none, absent(property).
export function openAiArguments(schema, args, absent) {
    return Object.fromEntries(Object.entries(schema.properties).map(([name, property]) => [name, name in args ? args[name] : absent(property)]));
}

// ---- Gemini, function declarations: an OpenAPI 3.0 schema with few keywords and no unions; other keywords are dropped
// (ai.google.dev/api/caching#Schema; mcpToTool of @google/genai and Gemini CLI do the same).

const GEMINI_WORDS = ['type', 'format', 'description', 'nullable', 'enum', 'maxItems', 'minItems', 'properties', 'required', 'minimum', 'maximum', 'items'];
const GEMINI_TYPES = new Set(['string', 'number', 'integer', 'boolean', 'array', 'object']);

function declaration(schema, where) {
    if (!GEMINI_TYPES.has(schema.type)) throw new Error(`${where}: the type ${schema.type} is not accepted`);
    if (schema.type === 'array' && !schema.items) throw new Error(`${where}: an array without items`);
    if (schema.enum && schema.type !== 'string') throw new Error(`${where}: an enum of type ${schema.type}`);
    const kept = Object.fromEntries(GEMINI_WORDS.filter((word) => word in schema).map((word) => [word, schema[word]]));
    if (kept.items) kept.items = declaration(kept.items, `${where}[]`);
    if (kept.type !== 'object') return kept;
    const properties = Object.entries(kept.properties ?? {});
    if (properties.length === 0 && where.includes('.')) throw new Error(`${where}: an object without properties`);
    kept.properties = Object.fromEntries(properties.map(([name, property]) => [name, declaration(property, `${where}.${name}`)]));
    return kept;
}

// The model can send only declared arguments, hence `additionalProperties: false`.
export function geminiSchema({ name, inputSchema }) {
    if (!/^[a-zA-Z_][a-zA-Z0-9_.-]{0,63}$/.test(name)) throw new Error(`${name}: not a valid function name`);
    return { ...declaration(inputSchema, name), additionalProperties: false };
}
