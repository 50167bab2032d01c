-- Runs that other tools measured, imported from these tools' files. An import is never changed. If a file is imported
-- again, nothing is added, unless the caller states different facts about it: then a new import corrects the earlier
-- one.
CREATE TABLE imports (
    id         TEXT    PRIMARY KEY,
    digest     TEXT    NOT NULL, -- SHA-256 of the file
    format     TEXT    NOT NULL,
    stated     TEXT    NOT NULL, -- canonical JSON: facts about the file that the caller stated
    corrects   TEXT    REFERENCES imports (id),
    name       TEXT    NOT NULL, -- the file's name
    file_bytes INTEGER NOT NULL,
    deployment TEXT    NOT NULL, -- '': none was stated
    document   TEXT    NOT NULL, -- JSON: facts, units, remarks; written and read by analysis/
    cells      INTEGER NOT NULL,
    principal  TEXT    NOT NULL,
    created_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX imports_by_time ON imports (created_ms);
CREATE INDEX imports_by_file ON imports (digest, format, created_ms);

-- Other names under which the same file was imported.
CREATE TABLE import_names (
    import_id  TEXT    NOT NULL REFERENCES imports (id),
    name       TEXT    NOT NULL,
    principal  TEXT    NOT NULL,
    created_ms INTEGER NOT NULL,
    PRIMARY KEY (import_id, name)
) STRICT, WITHOUT ROWID;

-- Cells in the order of the file, which can contain the same cell twice.
CREATE TABLE import_cells (
    import_id TEXT    NOT NULL REFERENCES imports (id),
    position  INTEGER NOT NULL,
    document  TEXT    NOT NULL, -- JSON: figures, and the row as it was in the file
    PRIMARY KEY (import_id, position)
) STRICT, WITHOUT ROWID;
