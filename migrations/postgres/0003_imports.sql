-- Runs that other tools measured, as their files tell them: never changed. A file comes once; with other facts stated by
-- who brings it, it is another import that points at the one before.
CREATE TABLE imports (
    id         TEXT COLLATE "C" PRIMARY KEY,
    digest     TEXT COLLATE "C" NOT NULL, -- SHA-256 of the file
    format     TEXT COLLATE "C" NOT NULL,
    stated     TEXT COLLATE "C" NOT NULL, -- JSON, canonical: what was said of it beside the file
    corrects   TEXT COLLATE "C" REFERENCES imports (id),
    name       TEXT COLLATE "C" NOT NULL, -- of the file
    file_bytes BIGINT NOT NULL,
    deployment TEXT COLLATE "C" NOT NULL, -- '' where none was said
    document   TEXT COLLATE "C" NOT NULL, -- JSON: facts, units, remarks; written and read by analysis/
    cells      BIGINT NOT NULL,
    principal  TEXT COLLATE "C" NOT NULL,
    created_ms BIGINT NOT NULL
);
CREATE INDEX imports_by_time ON imports (created_ms);
CREATE INDEX imports_by_file ON imports (digest, format, created_ms);

-- The same file under other names.
CREATE TABLE import_names (
    import_id  TEXT COLLATE "C" NOT NULL REFERENCES imports (id),
    name       TEXT COLLATE "C" NOT NULL,
    principal  TEXT COLLATE "C" NOT NULL,
    created_ms BIGINT NOT NULL,
    PRIMARY KEY (import_id, name)
);

-- In the order of the file, which may hold a cell twice.
CREATE TABLE import_cells (
    import_id TEXT COLLATE "C" NOT NULL REFERENCES imports (id),
    position  BIGINT NOT NULL,
    document  TEXT COLLATE "C" NOT NULL, -- JSON: figures, and the row as it stands in the file
    PRIMARY KEY (import_id, position)
);
