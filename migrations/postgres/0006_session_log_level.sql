-- From which level on a session's client asked to be told of the log.
ALTER TABLE sessions ADD COLUMN log_level BIGINT; -- NULL: it did not
