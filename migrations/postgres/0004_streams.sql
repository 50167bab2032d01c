-- What the client of a session can resume after it reconnects: its long-lived stream (`heard` is the number of the
-- newest event that a connection received), its calls that are answered with a stream, and its subscriptions to
-- resources.
ALTER TABLE sessions ADD COLUMN heard BIGINT NOT NULL DEFAULT 0;

CREATE TABLE event_calls (
    stream     TEXT COLLATE "C" PRIMARY KEY, -- as in the table events
    session    TEXT COLLATE "C" NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    message_id TEXT COLLATE "C" NOT NULL, -- JSON: the call's id, which its answer repeats
    request_id TEXT COLLATE "C" NOT NULL, -- as in the log and the audit log
    created_ms BIGINT NOT NULL,
    ended_ms   BIGINT           -- NULL: it is running, or the server was killed before storing its end
);
CREATE INDEX event_calls_by_session ON event_calls (session);

CREATE TABLE subscriptions (
    session TEXT COLLATE "C" NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    uri     TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (session, uri)
);
