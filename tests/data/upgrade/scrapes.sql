-- Data that version 0.1.0 wrote before migration 0013 of opsbrain.db existed: tests/e2e/upgrade.test.mjs starts a newer server on it.
PRAGMA auto_vacuum=INCREMENTAL;
PRAGMA application_id=1869640546;
PRAGMA user_version=3;
PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE series (
    id            INTEGER PRIMARY KEY,
    deployment_id INTEGER NOT NULL,
    name          TEXT    NOT NULL,
    labels        TEXT    NOT NULL,
    type          TEXT    NOT NULL, family INTEGER NOT NULL DEFAULT 0, seen_ms INTEGER NOT NULL DEFAULT 0,
    UNIQUE (deployment_id, name, labels)
) STRICT;
CREATE TABLE samples (
    deployment_id INTEGER NOT NULL,
    at_ms         INTEGER NOT NULL,
    data          BLOB    NOT NULL, -- store/scrapes.c
    PRIMARY KEY (deployment_id, at_ms)
) STRICT, WITHOUT ROWID;
CREATE TABLE blocks (
    id            INTEGER PRIMARY KEY AUTOINCREMENT,
    deployment_id INTEGER NOT NULL,
    level         INTEGER NOT NULL,
    from_ms       INTEGER NOT NULL,
    to_ms         INTEGER NOT NULL, -- not included
    data          BLOB    NOT NULL  -- times, and which families: store/block.c
) STRICT;
CREATE TABLE chunks (
    id   INTEGER PRIMARY KEY,
    data BLOB NOT NULL
) STRICT;
CREATE TABLE compacted (
    deployment_id INTEGER PRIMARY KEY,
    until_ms      INTEGER NOT NULL
) STRICT;
DELETE FROM sqlite_sequence;
CREATE INDEX samples_by_time ON samples (at_ms);
CREATE INDEX series_by_family ON series (deployment_id, family, id);
CREATE INDEX blocks_by_time ON blocks (deployment_id, level, from_ms);
CREATE INDEX blocks_by_age ON blocks (level, to_ms);
CREATE TRIGGER blocks_deleted AFTER DELETE ON blocks BEGIN
    DELETE FROM chunks WHERE id BETWEEN old.id * 65536 AND old.id * 65536 + 65535;
END;
COMMIT;
