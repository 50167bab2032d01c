-- Prompts, or lengths of prompts, that users import for their sweeps. A dataset is never changed, because runs refer to
-- it by name and digest.
CREATE TABLE datasets (
    name       TEXT    PRIMARY KEY,
    digest     TEXT    NOT NULL, -- SHA-256 of the prompts or lengths, not of the file
    kind       TEXT    NOT NULL CHECK (kind IN ('prompts', 'lengths')),
    prompts    INTEGER NOT NULL, -- number of prompts, or of lengths
    skipped    INTEGER NOT NULL, -- number of records in the file that were neither
    file_bytes INTEGER NOT NULL,
    lengths    TEXT    NOT NULL, -- JSON: statistics of the lengths of prompts and answers, in tokens
    principal  TEXT    NOT NULL,
    created_ms INTEGER NOT NULL,
    data       BLOB    NOT NULL  -- compressed; written and read by bench/
) STRICT;
