-- A job stands in line for its endpoints while it is queued, without a worker. Who holds an endpoint, for what and until
-- when is told by the job.
DROP TABLE endpoint_leases;
CREATE TABLE endpoint_leases (
    id         INTEGER PRIMARY KEY, -- in order of asking
    endpoint   TEXT    NOT NULL, -- host:port
    job_id     TEXT    NOT NULL REFERENCES jobs (id),
    turn       INTEGER, -- the lowest comes first; NULL: not in line, the job waits for another endpoint or an answer
    granted_ms INTEGER, -- NULL: not held yet
    UNIQUE (job_id, endpoint)
) STRICT;
CREATE UNIQUE INDEX endpoint_leases_one_holder ON endpoint_leases (endpoint) WHERE granted_ms IS NOT NULL;
CREATE INDEX endpoint_leases_in_line ON endpoint_leases (endpoint, turn, id);

-- The last turn that a principal was given in a line: its next job gets the one after, others' come between them.
CREATE TABLE line_turns (
    endpoint  TEXT    NOT NULL,
    principal TEXT    NOT NULL,
    turn      INTEGER NOT NULL,
    PRIMARY KEY (endpoint, principal)
) STRICT, WITHOUT ROWID;

-- Who was served last, by numbers that count up: the lowest is next when a worker is free.
CREATE TABLE served_endpoints (
    endpoint TEXT    PRIMARY KEY,
    number   INTEGER NOT NULL,
    turn     INTEGER NOT NULL -- of its holder, or the last one: whoever comes new begins there
) STRICT, WITHOUT ROWID;
CREATE TABLE served_principals (
    principal TEXT    PRIMARY KEY,
    number    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- They held an endpoint, or waited for one in a worker: queued, they stand in line again when the server starts.
UPDATE jobs SET state = 'queued', owner = '', lease_until_ms = 0 WHERE state = 'running';
