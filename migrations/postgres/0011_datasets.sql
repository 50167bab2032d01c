-- Prompts, or lengths of prompts, that people bring for their sweeps. Never changed: runs point at them by name and digest.
CREATE TABLE datasets (
    name       TEXT COLLATE "C" PRIMARY KEY,
    digest     TEXT COLLATE "C" NOT NULL, -- SHA-256 of what would be sent
    kind       TEXT COLLATE "C" NOT NULL CHECK (kind IN ('prompts', 'lengths')),
    prompts    BIGINT NOT NULL, -- or lengths: how many
    skipped    BIGINT NOT NULL, -- records of the file that were neither
    file_bytes BIGINT NOT NULL,
    lengths    TEXT COLLATE "C" NOT NULL, -- JSON: of prompts and answers, in tokens
    principal  TEXT COLLATE "C" NOT NULL,
    created_ms BIGINT NOT NULL,
    data       BYTEA    NOT NULL  -- compressed; written and read by bench/
);
