-- The server's own keys, each made when it is first needed.
CREATE TABLE server_keys (
    name       TEXT    PRIMARY KEY,
    key        BLOB    NOT NULL,
    created_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- A request takes several rounds if the server asks its client something. Its last round is recorded here, so that it
-- is carried out only once, even if the client sends it several times.
CREATE TABLE settled_requests (
    nonce      TEXT    PRIMARY KEY, -- from the state that the client carries between rounds
    request_id TEXT    NOT NULL,    -- as in the audit log
    created_ms INTEGER NOT NULL,
    result     TEXT                 -- as sent to the client; NULL: still being answered, or the server stopped first
) STRICT, WITHOUT ROWID;
CREATE INDEX settled_requests_by_time ON settled_requests (created_ms);
