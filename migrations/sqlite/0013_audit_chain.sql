-- The audit log becomes a chain: each row has a digest that covers its contents and the digest of the previous row
-- (store/audit/audit_chain.h). This reveals whether a row was changed, removed, moved or inserted later. Existing rows
-- are kept in audit_unchained until the store adds them to the chain, which it does before it writes anything else.
DROP INDEX audit_by_time;
ALTER TABLE audit RENAME TO audit_unchained;
CREATE INDEX audit_unchained_intents ON audit_unchained (request_id) WHERE phase = 'intent';

CREATE TABLE audit (
    id         INTEGER PRIMARY KEY, -- ascending; assigned when a row is added to the chain
    at_ms      INTEGER NOT NULL,
    intent     INTEGER NOT NULL, -- the intent row that an outcome belongs to; 0: none
    times      INTEGER NOT NULL, -- how many calls the row stands for
    request_id TEXT    NOT NULL,
    principal  TEXT    NOT NULL,
    role       TEXT    NOT NULL,
    client     TEXT    NOT NULL,
    tool       TEXT    NOT NULL,
    arguments  TEXT    NOT NULL, -- JSON, limited in size, without secrets
    phase      TEXT    NOT NULL CHECK (phase IN ('intent', 'outcome')),
    outcome    TEXT    NOT NULL, -- 'ok', or the error's kind
    detail     TEXT    NOT NULL,
    subject    TEXT    NOT NULL, -- what it changed: deployment name, sweep id, ...
    changed    TEXT    NOT NULL, -- JSON: {"member": [before, after]}
    key_id     TEXT    NOT NULL, -- of the key with which the digest was made; '': none
    digest     BLOB    NOT NULL
) STRICT;
CREATE INDEX audit_by_time ON audit (at_ms);
CREATE INDEX audit_by_intent ON audit (intent) WHERE intent > 0;

-- A single row, which records the last row that the store added to the audit log. This reveals whether the newest rows
-- were removed. The seal is a digest of the other columns.
CREATE TABLE audit_head (
    one    INTEGER PRIMARY KEY CHECK (one = 1),
    id     INTEGER NOT NULL,
    digest BLOB    NOT NULL,
    key_id TEXT    NOT NULL,
    seal   BLOB    NOT NULL
) STRICT;

-- Anchors: each stands for the oldest rows, which retention removed. The rest of the chain follows the newest anchor.
CREATE TABLE audit_anchors (
    id      INTEGER PRIMARY KEY,
    last_id INTEGER NOT NULL, -- the newest removed row
    at_ms   INTEGER NOT NULL,
    removed INTEGER NOT NULL, -- number of rows removed so far
    from_ms INTEGER NOT NULL, -- from_ms and to_ms: times of the oldest and the newest removed row
    to_ms   INTEGER NOT NULL,
    digest  BLOB    NOT NULL, -- of the newest removed row
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
