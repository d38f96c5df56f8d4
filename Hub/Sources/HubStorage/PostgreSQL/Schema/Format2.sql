
-- Format 2: appends of several requests share a transaction.

DROP FUNCTION append_segments;
