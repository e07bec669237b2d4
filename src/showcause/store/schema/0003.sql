-- The store of showcause, schema 3: what reviewers showed on known cases.

-- The latest one under a key says which powers the reviewer has. All are kept.
CREATE TABLE calibrations (
    seq     INTEGER PRIMARY KEY,
    key     TEXT NOT NULL,              -- digest of reviewer, model, instructions and way of voting
    created TEXT NOT NULL,
    body    TEXT NOT NULL               -- JSON: the calibration
);
CREATE INDEX calibrations_by_key ON calibrations (key, seq);
