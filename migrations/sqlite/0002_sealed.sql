-- The server's own keys, each made when it is first needed.
CREATE TABLE server_keys (
    name       TEXT    PRIMARY KEY,
    key        BLOB    NOT NULL,
    created_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- If the server asks the client something before it carries out a request, the client sends the request again with the
-- answer. That last round is recorded here, so that the request is carried out only once, even if the client sends the
-- round several times.
CREATE TABLE settled_requests (
    nonce      TEXT    PRIMARY KEY, -- from the state that the client carries between rounds
    request_id TEXT    NOT NULL,    -- as in the audit log
    created_ms INTEGER NOT NULL,
    result     TEXT                 -- as sent to the client; NULL: still being answered, or the server stopped first
) STRICT, WITHOUT ROWID;
CREATE INDEX settled_requests_by_time ON settled_requests (created_ms);
