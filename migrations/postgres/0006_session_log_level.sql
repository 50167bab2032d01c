-- The lowest level of log messages that the session's client asked for.
ALTER TABLE sessions ADD COLUMN log_level BIGINT; -- NULL: it asked for none
