-- Runs that other tools measured, as their files tell them: never changed. A file comes once; with other facts stated by
-- who brings it, it is another import that points at the one before.
CREATE TABLE imports (
    id         TEXT    PRIMARY KEY,
    digest     TEXT    NOT NULL, -- SHA-256 of the file
    format     TEXT    NOT NULL,
    stated     TEXT    NOT NULL, -- JSON, canonical: what was said of it beside the file
    corrects   TEXT    REFERENCES imports (id),
    name       TEXT    NOT NULL, -- of the file
    file_bytes INTEGER NOT NULL,
    deployment TEXT    NOT NULL, -- '' where none was said
    document   TEXT    NOT NULL, -- JSON: facts, units, remarks; written and read by analysis/
    cells      INTEGER NOT NULL,
    principal  TEXT    NOT NULL,
    created_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX imports_by_time ON imports (created_ms);
CREATE INDEX imports_by_file ON imports (digest, format, created_ms);

-- The same file under other names.
CREATE TABLE import_names (
    import_id  TEXT    NOT NULL REFERENCES imports (id),
    name       TEXT    NOT NULL,
    principal  TEXT    NOT NULL,
    created_ms INTEGER NOT NULL,
    PRIMARY KEY (import_id, name)
) STRICT, WITHOUT ROWID;

-- In the order of the file, which may hold a cell twice.
CREATE TABLE import_cells (
    import_id TEXT    NOT NULL REFERENCES imports (id),
    position  INTEGER NOT NULL,
    document  TEXT    NOT NULL, -- JSON: figures, and the row as it stands in the file
    PRIMARY KEY (import_id, position)
) STRICT, WITHOUT ROWID;
