-- What a session's client may come back to: the newest event of its standing stream that a connection took, its calls
-- that are answered by a stream, and the resources it follows.
ALTER TABLE sessions ADD COLUMN heard INTEGER NOT NULL DEFAULT 0;

CREATE TABLE event_calls (
    stream     TEXT    PRIMARY KEY, -- as in events
    session    TEXT    NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    message_id TEXT    NOT NULL, -- JSON: the id its answer must have
    request_id TEXT    NOT NULL, -- of the log line and the audit
    created_ms INTEGER NOT NULL,
    ended_ms   INTEGER           -- NULL: it runs, or the server was lost while it did
) STRICT, WITHOUT ROWID;
CREATE INDEX event_calls_by_session ON event_calls (session);

CREATE TABLE subscriptions (
    session TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    uri     TEXT NOT NULL,
    PRIMARY KEY (session, uri)
) STRICT, WITHOUT ROWID;
