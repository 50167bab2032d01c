-- What the client of a session can resume after it reconnects: its long-lived stream (`heard` is the number of the
-- newest event that a connection received), its calls that are answered with a stream, and its subscriptions to
-- resources.
ALTER TABLE sessions ADD COLUMN heard INTEGER NOT NULL DEFAULT 0;

CREATE TABLE event_calls (
    stream     TEXT    PRIMARY KEY, -- as in the table events
    session    TEXT    NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    message_id TEXT    NOT NULL, -- JSON: the call's id, which its answer repeats
    request_id TEXT    NOT NULL, -- as in the log and the audit log
    created_ms INTEGER NOT NULL,
    ended_ms   INTEGER           -- NULL: it is running, or the server was killed before storing its end
) STRICT, WITHOUT ROWID;
CREATE INDEX event_calls_by_session ON event_calls (session);

CREATE TABLE subscriptions (
    session TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    uri     TEXT NOT NULL,
    PRIMARY KEY (session, uri)
) STRICT, WITHOUT ROWID;
