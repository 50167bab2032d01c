-- Targets: where admins allow model servers to be deployed. A target is never deleted, only retired; every change adds
-- a new revision.
CREATE TABLE fleet_targets (
    name       TEXT    PRIMARY KEY,
    revision   INTEGER NOT NULL,
    retired_ms INTEGER
) STRICT;

CREATE TABLE fleet_target_revisions (
    target              TEXT    NOT NULL REFERENCES fleet_targets (name),
    revision            INTEGER NOT NULL,
    provider            TEXT    NOT NULL,
    place               TEXT    NOT NULL, -- JSON: what only the provider uses, such as project, cluster, namespace
    regions             TEXT    NOT NULL, -- JSON array: regions or zones; []: the provider has none
    source_ranges       TEXT    NOT NULL, -- JSON array: the CIDR ranges that are allowed to call the servers
    credential          TEXT    NOT NULL, -- the kind of credential
    credential_file     TEXT    NOT NULL, -- the file's name in the secrets folder, never a path or a value
    proxy               TEXT    NOT NULL,
    recipes             TEXT    NOT NULL, -- JSON array of names; []: every recipe of the provider
    deployment_usd      REAL    NOT NULL, -- maximum per hour for one deployment; 0: only what costs nothing
    total_usd           REAL    NOT NULL, -- maximum per hour for all deployments together; 0: only what costs nothing
    life_limit_s        INTEGER NOT NULL, -- 0: no limit
    allows_no_price     INTEGER NOT NULL, -- 1: the cost of a deployment can be unknown
    allows_no_end       INTEGER NOT NULL, -- 1: a deployment can have no end
    allows_no_guard     INTEGER NOT NULL, -- 1: the end of a deployment can depend on opsbrain alone
    needs_two           INTEGER NOT NULL, -- 1: two people must approve a plan
    agent_usd           REAL    NOT NULL, -- maximum per hour that an agent can approve alone; 0: only stopping and destroying
    agent_life_usd      REAL    NOT NULL, -- the same, but for a deployment's whole life, not per hour
    created_ms          INTEGER NOT NULL,
    created_by          TEXT    NOT NULL,
    PRIMARY KEY (target, revision)
) STRICT;

-- Plans to change deployments, request by request, exactly as they were shown. An approval is for a plan's digest.
CREATE TABLE fleet_plans (
    id              TEXT    PRIMARY KEY, -- pln_...
    digest          TEXT    NOT NULL,
    verb            TEXT    NOT NULL,
    deployment      TEXT    NOT NULL,
    target          TEXT    NOT NULL,
    target_revision INTEGER NOT NULL,
    document        TEXT    NOT NULL, -- JSON: wanted state, recipe, observed state, price, requests
    usd_known       INTEGER NOT NULL,
    usd_per_hour    REAL    NOT NULL, -- of the deployment once the plan is carried out
    ends_ms         INTEGER NOT NULL, -- when the deployment ends; 0: never
    at_end          TEXT    NOT NULL CHECK (at_end IN ('', 'stop', 'destroy')),
    state           TEXT    NOT NULL CHECK (state IN ('planned', 'applying', 'done', 'failed', 'cancelled')),
    reason          TEXT    NOT NULL,
    job_id          TEXT, -- NULL: the plan has not begun
    principal       TEXT    NOT NULL,
    created_ms      INTEGER NOT NULL,
    good_until_ms   INTEGER NOT NULL,
    finished_ms     INTEGER
) STRICT;
CREATE INDEX fleet_plans_by_time ON fleet_plans (created_ms, id);
CREATE UNIQUE INDEX fleet_plans_applying ON fleet_plans (deployment) WHERE state = 'applying'; -- only one at a time

CREATE TABLE fleet_approvals (
    plan_id    TEXT    NOT NULL REFERENCES fleet_plans (id),
    principal  TEXT    NOT NULL,
    way        TEXT    NOT NULL CHECK (way IN ('person', 'command line', 'agent')),
    client     TEXT    NOT NULL,
    created_ms INTEGER NOT NULL,
    PRIMARY KEY (plan_id, principal, way)
) STRICT;

-- One row is written before each request of a plan and one after it. A process that takes over after a crash reads
-- these rows to see what was done.
CREATE TABLE fleet_journal (
    plan_id  TEXT    NOT NULL REFERENCES fleet_plans (id),
    sequence INTEGER NOT NULL,
    step     TEXT    NOT NULL,
    action   TEXT    NOT NULL CHECK (action IN ('do', 'poll', 'undo')),
    outcome  TEXT    NOT NULL, -- '' before the request
    poll_url TEXT    NOT NULL, -- where to poll for the result
    detail   TEXT    NOT NULL, -- the provider's message
    at_ms    INTEGER NOT NULL,
    PRIMARY KEY (plan_id, sequence)
) STRICT;

-- Deployments whose servers opsbrain created, adopted or only watches: their wanted state and their last observed
-- state.
CREATE TABLE fleet_managed (
    id            TEXT    PRIMARY KEY, -- mng_...
    deployment    TEXT    NOT NULL,
    target        TEXT    NOT NULL REFERENCES fleet_targets (name),
    plan_id       TEXT    NOT NULL, -- the last plan begun for it
    state         TEXT    NOT NULL CHECK (state IN ('creating', 'running', 'stopped', 'failed', 'gone')),
    rights        TEXT    NOT NULL CHECK (rights IN ('created', 'adopted', 'watched')),
    wish          TEXT    NOT NULL, -- JSON: the wanted state: recipe, overrides, region, replicas
    usd_known     INTEGER NOT NULL,
    usd_per_hour  REAL    NOT NULL,
    ends_ms       INTEGER NOT NULL, -- 0: none
    at_end        TEXT    NOT NULL,
    warned        INTEGER NOT NULL DEFAULT 0, -- last warning about its end: 1: an hour before; 2: ten minutes before
    observed      TEXT    NOT NULL DEFAULT '{}', -- JSON
    observed_ms   INTEGER NOT NULL DEFAULT 0,
    problem       TEXT    NOT NULL DEFAULT '',
    baseline      TEXT    NOT NULL DEFAULT '{}', -- JSON: fields observed after the last plan, to detect drift
    spent_usd     REAL    NOT NULL DEFAULT 0,
    spent_ms      INTEGER NOT NULL DEFAULT 0, -- spent_usd is the cost up to this time
    created_ms    INTEGER NOT NULL,
    created_by    TEXT    NOT NULL,
    ended_ms      INTEGER
) STRICT;
CREATE UNIQUE INDEX fleet_managed_by_name ON fleet_managed (deployment) WHERE state <> 'gone';

-- The identity of this database. The id is a label on every resource that opsbrain creates. A copy of the database is
-- recognized because it is used at a place other than the recorded one.
CREATE TABLE fleet_instance (
    only  INTEGER PRIMARY KEY CHECK (only = 1),
    id    TEXT    NOT NULL,
    place TEXT    NOT NULL -- '' until a process records it
) STRICT;
