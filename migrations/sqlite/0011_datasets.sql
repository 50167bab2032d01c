-- Prompts, or lengths of prompts, that people bring for their sweeps. Never changed: runs point at them by name and digest.
CREATE TABLE datasets (
    name       TEXT    PRIMARY KEY,
    digest     TEXT    NOT NULL, -- SHA-256 of what would be sent
    kind       TEXT    NOT NULL CHECK (kind IN ('prompts', 'lengths')),
    prompts    INTEGER NOT NULL, -- or lengths: how many
    skipped    INTEGER NOT NULL, -- records of the file that were neither
    file_bytes INTEGER NOT NULL,
    lengths    TEXT    NOT NULL, -- JSON: of prompts and answers, in tokens
    principal  TEXT    NOT NULL,
    created_ms INTEGER NOT NULL,
    data       BLOB    NOT NULL  -- compressed; written and read by bench/
) STRICT;
