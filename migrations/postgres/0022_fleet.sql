-- Where model servers may be put up, as admins said. A target is never deleted, only retired; every change is a new revision.
CREATE TABLE fleet_targets (
    name       TEXT COLLATE "C" PRIMARY KEY,
    revision   BIGINT NOT NULL,
    retired_ms BIGINT
);

CREATE TABLE fleet_target_revisions (
    target              TEXT COLLATE "C" NOT NULL REFERENCES fleet_targets (name),
    revision            BIGINT NOT NULL,
    provider            TEXT COLLATE "C" NOT NULL,
    place               TEXT COLLATE "C" NOT NULL, -- JSON: what only the provider reads, such as project, cluster, namespace
    regions             TEXT COLLATE "C" NOT NULL, -- JSON array: regions or zones; [] where the provider has none
    source_ranges       TEXT COLLATE "C" NOT NULL, -- JSON array of CIDR ranges that may call what is deployed
    credential          TEXT COLLATE "C" NOT NULL, -- its kind
    credential_file     TEXT COLLATE "C" NOT NULL, -- its name in the secrets folder, never a path or a value
    proxy               TEXT COLLATE "C" NOT NULL,
    recipes             TEXT COLLATE "C" NOT NULL, -- JSON array of names; []: every recipe of the provider
    deployment_usd      DOUBLE PRECISION    NOT NULL, -- per hour, of one deployment at most; 0: only what costs nothing
    total_usd           DOUBLE PRECISION    NOT NULL, -- per hour, of all together at most; the same
    life_limit_s        BIGINT NOT NULL, -- 0: no limit
    allows_no_price     BIGINT NOT NULL, -- the cost of a deployment may be unknown
    allows_no_end       BIGINT NOT NULL, -- a deployment may have no end
    allows_no_guard     BIGINT NOT NULL, -- nothing but opsbrain may end it
    needs_two           BIGINT NOT NULL, -- two people must agree
    agent_usd           DOUBLE PRECISION    NOT NULL, -- per hour, that an agent may approve alone; 0: nothing
    agent_life_usd      DOUBLE PRECISION    NOT NULL, -- the same for a whole life
    created_ms          BIGINT NOT NULL,
    created_by          TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (target, revision)
);

-- What would be done, request by request, as it was shown. Its digest is what a go-ahead is given to.
CREATE TABLE fleet_plans (
    id              TEXT COLLATE "C" PRIMARY KEY, -- pln_...
    digest          TEXT COLLATE "C" NOT NULL,
    verb            TEXT COLLATE "C" NOT NULL,
    deployment      TEXT COLLATE "C" NOT NULL,
    target          TEXT COLLATE "C" NOT NULL,
    target_revision BIGINT NOT NULL,
    document        TEXT COLLATE "C" NOT NULL, -- JSON: wishes, recipe, observed state, price, requests
    usd_known       BIGINT NOT NULL,
    usd_per_hour    DOUBLE PRECISION    NOT NULL, -- of the deployment once the plan is carried out
    ends_ms         BIGINT NOT NULL, -- of the deployment; 0: none
    at_end          TEXT COLLATE "C" NOT NULL CHECK (at_end IN ('', 'stop', 'destroy')),
    state           TEXT COLLATE "C" NOT NULL CHECK (state IN ('planned', 'applying', 'done', 'failed', 'cancelled')),
    reason          TEXT COLLATE "C" NOT NULL,
    job_id          TEXT COLLATE "C", -- NULL: not begun
    principal       TEXT COLLATE "C" NOT NULL,
    created_ms      BIGINT NOT NULL,
    good_until_ms   BIGINT NOT NULL,
    finished_ms     BIGINT
);
CREATE INDEX fleet_plans_by_time ON fleet_plans (created_ms, id);
CREATE UNIQUE INDEX fleet_plans_applying ON fleet_plans (deployment) WHERE state = 'applying'; -- one at a time

CREATE TABLE fleet_approvals (
    plan_id    TEXT COLLATE "C" NOT NULL REFERENCES fleet_plans (id),
    principal  TEXT COLLATE "C" NOT NULL,
    way        TEXT COLLATE "C" NOT NULL CHECK (way IN ('person', 'command line', 'agent')),
    client     TEXT COLLATE "C" NOT NULL,
    created_ms BIGINT NOT NULL,
    PRIMARY KEY (plan_id, principal, way)
);

-- One row before each request of a plan and one after it: what a process that takes over after a crash goes by.
CREATE TABLE fleet_journal (
    plan_id  TEXT COLLATE "C" NOT NULL REFERENCES fleet_plans (id),
    sequence BIGINT NOT NULL,
    step     TEXT COLLATE "C" NOT NULL,
    action   TEXT COLLATE "C" NOT NULL CHECK (action IN ('do', 'poll', 'undo')),
    outcome  TEXT COLLATE "C" NOT NULL, -- '' before the request
    poll_url TEXT COLLATE "C" NOT NULL, -- where to look again
    detail   TEXT COLLATE "C" NOT NULL, -- the provider's words
    at_ms    BIGINT NOT NULL,
    PRIMARY KEY (plan_id, sequence)
);

-- Deployments whose server opsbrain put up, or took over: what is wanted, and what was seen last.
CREATE TABLE fleet_managed (
    id            TEXT COLLATE "C" PRIMARY KEY, -- mng_...
    deployment    TEXT COLLATE "C" NOT NULL,
    target        TEXT COLLATE "C" NOT NULL REFERENCES fleet_targets (name),
    plan_id       TEXT COLLATE "C" NOT NULL, -- the newest that changed it
    state         TEXT COLLATE "C" NOT NULL CHECK (state IN ('creating', 'running', 'stopped', 'failed', 'gone')),
    rights        TEXT COLLATE "C" NOT NULL CHECK (rights IN ('created', 'adopted', 'watched')),
    wish          TEXT COLLATE "C" NOT NULL, -- JSON: recipe, overrides, region, replicas
    usd_known     BIGINT NOT NULL,
    usd_per_hour  DOUBLE PRECISION    NOT NULL,
    ends_ms       BIGINT NOT NULL, -- 0: none
    at_end        TEXT COLLATE "C" NOT NULL,
    warned        BIGINT NOT NULL DEFAULT 0, -- of its end: 1 an hour before, 2 ten minutes before
    observed      TEXT COLLATE "C" NOT NULL DEFAULT '{}', -- JSON
    observed_ms   BIGINT NOT NULL DEFAULT 0,
    problem       TEXT COLLATE "C" NOT NULL DEFAULT '',
    baseline      TEXT COLLATE "C" NOT NULL DEFAULT '{}', -- JSON: its fields when a plan last made them, for drift
    spent_usd     DOUBLE PRECISION    NOT NULL DEFAULT 0,
    spent_ms      BIGINT NOT NULL DEFAULT 0, -- counted up to here
    created_ms    BIGINT NOT NULL,
    created_by    TEXT COLLATE "C" NOT NULL,
    ended_ms      BIGINT
);
CREATE UNIQUE INDEX fleet_managed_by_name ON fleet_managed (deployment) WHERE state <> 'gone';

-- Which database this is: the id is on every resource. A copy is recognized by its place.
CREATE TABLE fleet_instance (
    "only" BIGINT PRIMARY KEY CHECK ("only" = 1),
    id    TEXT COLLATE "C" NOT NULL,
    place TEXT COLLATE "C" NOT NULL -- '' until a process first recorded it
);
