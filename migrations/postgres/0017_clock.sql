-- The last time at which the wall clock was trusted, and the time that it has shown since an implausible jump
-- (base/core/timeline.h).
CREATE TABLE clock (
    id           BIGINT PRIMARY KEY CHECK (id = 1),
    seen_ms      BIGINT NOT NULL,
    rival_ms     BIGINT NOT NULL, -- 0: there was no such jump
    rival_ran_ms BIGINT NOT NULL
);
