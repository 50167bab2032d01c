-- The audit is a chain: each row has the digest of its contents and of the row before (store/chain.h), so that a row
-- that is changed, removed, moved or added later shows. The rows of before wait in audit_unchained until the store
-- takes them over, which it does before anything else is written.
DROP INDEX audit_by_time;
ALTER TABLE audit RENAME TO audit_unchained;
CREATE INDEX audit_unchained_intents ON audit_unchained (request_id) WHERE phase = 'intent';

CREATE TABLE audit (
    id         INTEGER PRIMARY KEY, -- ascending; given by the chain
    at_ms      INTEGER NOT NULL,
    intent     INTEGER NOT NULL, -- the intent row that an outcome belongs to; 0: none
    times      INTEGER NOT NULL, -- how many calls the row stands for
    request_id TEXT    NOT NULL,
    principal  TEXT    NOT NULL,
    role       TEXT    NOT NULL,
    client     TEXT    NOT NULL,
    tool       TEXT    NOT NULL,
    arguments  TEXT    NOT NULL, -- JSON, bounded, without secrets
    phase      TEXT    NOT NULL CHECK (phase IN ('intent', 'outcome')),
    outcome    TEXT    NOT NULL, -- 'ok', or the error's kind
    detail     TEXT    NOT NULL,
    subject    TEXT    NOT NULL, -- what it changed: deployment name, sweep id, ...
    changed    TEXT    NOT NULL, -- JSON: {"member": [before, after]}
    key_id     TEXT    NOT NULL, -- of the key in the digest; '': none
    digest     BLOB    NOT NULL
) STRICT;
CREATE INDEX audit_by_time ON audit (at_ms);
CREATE INDEX audit_by_intent ON audit (intent) WHERE intent > 0;

-- One row: the newest of the audit as the store wrote it, so that a removed end shows. The seal is over the rest.
CREATE TABLE audit_head (
    one    INTEGER PRIMARY KEY CHECK (one = 1),
    id     INTEGER NOT NULL,
    digest BLOB    NOT NULL,
    key_id TEXT    NOT NULL,
    seal   BLOB    NOT NULL
) STRICT;

-- What retention took from the old end: the chain goes on from the newest of these.
CREATE TABLE audit_anchors (
    id      INTEGER PRIMARY KEY,
    last_id INTEGER NOT NULL, -- the newest row that is gone
    at_ms   INTEGER NOT NULL,
    removed INTEGER NOT NULL, -- rows so far
    from_ms INTEGER NOT NULL, -- of the rows that this anchor stands for, oldest and newest
    to_ms   INTEGER NOT NULL,
    digest  BLOB    NOT NULL, -- of that newest row
    key_id  TEXT    NOT NULL,
    seal    BLOB    NOT NULL
) STRICT;

CREATE TRIGGER audit_is_not_changed BEFORE UPDATE ON audit BEGIN
    SELECT RAISE(ABORT, 'rows of the audit are never changed');
END;
CREATE TRIGGER audit_is_kept BEFORE DELETE ON audit
WHEN OLD.id > coalesce((SELECT last_id FROM audit_anchors ORDER BY id DESC LIMIT 1), 0) BEGIN
    SELECT RAISE(ABORT, 'the audit is only removed from its old end, after an anchor was written');
END;
CREATE TRIGGER audit_anchors_are_not_changed BEFORE UPDATE ON audit_anchors BEGIN
    SELECT RAISE(ABORT, 'anchors of the audit are never changed');
END;
CREATE TRIGGER audit_anchors_are_kept BEFORE DELETE ON audit_anchors BEGIN
    SELECT RAISE(ABORT, 'anchors of the audit are never removed');
END;
