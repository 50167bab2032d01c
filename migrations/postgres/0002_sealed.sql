-- The server's own keys, each made when it is first needed.
CREATE TABLE server_keys (
    name       TEXT COLLATE "C" PRIMARY KEY,
    key        BYTEA    NOT NULL,
    created_ms BIGINT NOT NULL
);

-- A request takes several rounds if the server asks its client something. Its last round is recorded here, so that it
-- is carried out only once, even if the client sends it several times.
CREATE TABLE settled_requests (
    nonce      TEXT COLLATE "C" PRIMARY KEY, -- from the state that the client carries between rounds
    request_id TEXT COLLATE "C" NOT NULL,    -- as in the audit log
    created_ms BIGINT NOT NULL,
    result     TEXT COLLATE "C"                 -- as sent to the client; NULL: still being answered, or the server stopped first
);
CREATE INDEX settled_requests_by_time ON settled_requests (created_ms);
