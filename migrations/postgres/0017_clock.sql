-- When the wall clock was believed last, and where it has jumped to since (base/timeline.h).
CREATE TABLE clock (
    id           BIGINT PRIMARY KEY CHECK (id = 1),
    seen_ms      BIGINT NOT NULL,
    rival_ms     BIGINT NOT NULL, -- 0: it is believed
    rival_ran_ms BIGINT NOT NULL
);
