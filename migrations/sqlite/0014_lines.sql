-- A job waits in line for its endpoints while it is queued, so that it does not occupy a worker meanwhile. The table
-- jobs says who holds an endpoint, for what purpose and until when.
DROP TABLE endpoint_leases;
CREATE TABLE endpoint_leases (
    id         INTEGER PRIMARY KEY, -- in the order in which jobs asked for their endpoints
    endpoint   TEXT    NOT NULL, -- host:port
    job_id     TEXT    NOT NULL REFERENCES jobs (id),
    turn       INTEGER, -- lowest first; NULL: not in line, the job waits for another endpoint or an answer
    granted_ms INTEGER, -- NULL: not held yet
    UNIQUE (job_id, endpoint)
) STRICT;
CREATE UNIQUE INDEX endpoint_leases_one_holder ON endpoint_leases (endpoint) WHERE granted_ms IS NOT NULL;
CREATE INDEX endpoint_leases_in_line ON endpoint_leases (endpoint, turn, id);

-- The last turn that a principal was given in an endpoint's line. The principal's next job gets the next turn, so that
-- one job of every other principal comes before it.
CREATE TABLE line_turns (
    endpoint  TEXT    NOT NULL,
    principal TEXT    NOT NULL,
    turn      INTEGER NOT NULL,
    PRIMARY KEY (endpoint, principal)
) STRICT, WITHOUT ROWID;

-- The order in which endpoints and principals were last served: the later, the higher the number. If several jobs are
-- waiting when a worker is free, those with lower numbers come first.
CREATE TABLE served_endpoints (
    endpoint TEXT    PRIMARY KEY,
    number   INTEGER NOT NULL,
    turn     INTEGER NOT NULL -- of the last job that got the endpoint; a principal that is new in line begins there
) STRICT, WITHOUT ROWID;
CREATE TABLE served_principals (
    principal TEXT    PRIMARY KEY,
    number    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Jobs that were running held an endpoint, or occupied a worker while they waited for one. They are queued again, and
-- join the lines when the server starts.
UPDATE jobs SET state = 'queued', owner = '', lease_until_ms = 0 WHERE state = 'running';
