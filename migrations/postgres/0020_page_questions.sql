-- What calls ask of a person at the server's own page, since their client shows no forms, and the answer.
CREATE TABLE page_questions (
    id          TEXT COLLATE "C" PRIMARY KEY, -- ask_..., of the page
    principal   TEXT COLLATE "C" NOT NULL,    -- whose call asks: nobody else may answer
    tool        TEXT COLLATE "C" NOT NULL,
    client      TEXT COLLATE "C" NOT NULL,
    params      TEXT COLLATE "C" NOT NULL,    -- JSON: of elicitation/create, the message and the form
    answer      TEXT COLLATE "C",                -- JSON: action and content; NULL: none
    asked_ms    BIGINT NOT NULL,
    expires_ms  BIGINT NOT NULL,    -- later answers are refused
    answered_ms BIGINT
);
CREATE INDEX page_questions_by_principal ON page_questions (principal, expires_ms);
CREATE INDEX page_questions_by_age ON page_questions (asked_ms);
