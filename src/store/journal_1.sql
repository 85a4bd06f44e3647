-- The first form of a journal.

-- What was run: 'weft' (version), 'command', 'policy' (a blob), 'wall_start_ms' (Unix time of the instant 0), and once it has
-- ended 'end_calls', 'end_events', 'end_decisions' and 'end_hash'.
CREATE TABLE meta (
  name TEXT PRIMARY KEY,
  value
) WITHOUT ROWID;

-- For people, in order: 'trace', 'cluster', …
CREATE TABLE facts (
  number INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  value TEXT NOT NULL
);

-- What the core was told, call by call, and what it decided. Blobs are as store/codec.h writes them.
CREATE TABLE calls (
  number INTEGER PRIMARY KEY,    -- from 1, without gaps
  at INTEGER NOT NULL,           -- ns: the core's present after the call
  kind INTEGER NOT NULL,         -- 0 apply, 1 absorb, 2 expect_tasks, 3 try_everybody
  told BLOB NOT NULL,            -- events, or tasks; empty for 3
  decided BLOB NOT NULL,         -- empty: nothing
  decisions INTEGER NOT NULL,    -- how many since the start, with this call's
  hash INTEGER NOT NULL,         -- running hash of all decisions after the call
  check_sum INTEGER NOT NULL     -- of all the other columns
);
