-- Runs that other tools measured, imported from these tools' files. An import is never changed. If a file is imported
-- again, nothing is added, unless the caller states different facts about it: then a new import corrects the earlier
-- one.
CREATE TABLE imports (
    id         TEXT COLLATE "C" PRIMARY KEY,
    digest     TEXT COLLATE "C" NOT NULL, -- SHA-256 of the file
    format     TEXT COLLATE "C" NOT NULL,
    stated     TEXT COLLATE "C" NOT NULL, -- canonical JSON: facts about the file that the caller stated
    corrects   TEXT COLLATE "C" REFERENCES imports (id),
    name       TEXT COLLATE "C" NOT NULL, -- the file's name
    file_bytes BIGINT NOT NULL,
    deployment TEXT COLLATE "C" NOT NULL, -- '': none was stated
    document   TEXT COLLATE "C" NOT NULL, -- JSON: facts, units, remarks; written and read by analysis/
    cells      BIGINT NOT NULL,
    principal  TEXT COLLATE "C" NOT NULL,
    created_ms BIGINT NOT NULL
);
CREATE INDEX imports_by_time ON imports (created_ms);
CREATE INDEX imports_by_file ON imports (digest, format, created_ms);

-- Other names under which the same file was imported.
CREATE TABLE import_names (
    import_id  TEXT COLLATE "C" NOT NULL REFERENCES imports (id),
    name       TEXT COLLATE "C" NOT NULL,
    principal  TEXT COLLATE "C" NOT NULL,
    created_ms BIGINT NOT NULL,
    PRIMARY KEY (import_id, name)
);

-- Cells in the order of the file, which can contain the same cell twice.
CREATE TABLE import_cells (
    import_id TEXT COLLATE "C" NOT NULL REFERENCES imports (id),
    position  BIGINT NOT NULL,
    document  TEXT COLLATE "C" NOT NULL, -- JSON: figures, and the row as it was in the file
    PRIMARY KEY (import_id, position)
);
