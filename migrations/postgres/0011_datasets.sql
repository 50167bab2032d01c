-- Prompts, or lengths of prompts, that users import for their sweeps. A dataset is never changed, because runs refer to
-- it by name and digest.
CREATE TABLE datasets (
    name       TEXT COLLATE "C" PRIMARY KEY,
    digest     TEXT COLLATE "C" NOT NULL, -- SHA-256 of the prompts or lengths, not of the file
    kind       TEXT COLLATE "C" NOT NULL CHECK (kind IN ('prompts', 'lengths')),
    prompts    BIGINT NOT NULL, -- number of prompts, or of lengths
    skipped    BIGINT NOT NULL, -- number of records in the file that were neither
    file_bytes BIGINT NOT NULL,
    lengths    TEXT COLLATE "C" NOT NULL, -- JSON: statistics of the lengths of prompts and answers, in tokens
    principal  TEXT COLLATE "C" NOT NULL,
    created_ms BIGINT NOT NULL,
    data       BYTEA    NOT NULL  -- compressed; written and read by bench/
);
