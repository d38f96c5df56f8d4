-- Format 1 of a hub's database. Numbers of roles and kinds are those of RowBytes.swift: do not change them.

CREATE TABLE meta (
  format integer NOT NULL,
  incarnation bytea NOT NULL
);

CREATE TABLE account (
  id uuid PRIMARY KEY,
  byte_limit bigint NOT NULL
);

-- kind: 1 account, 2 member, 3 invitation, whose member is the one that made it. Times are in microseconds since 1970.
CREATE TABLE token (
  hash bytea PRIMARY KEY,
  kind smallint NOT NULL,
  account uuid,
  space uuid,
  member uuid,
  role smallint,
  expires_at bigint
);
CREATE INDEX token_by_space ON token (space) WHERE space IS NOT NULL;

CREATE TABLE space (
  id uuid PRIMARY KEY,
  account uuid NOT NULL,
  position bigint NOT NULL DEFAULT 0,
  change_count bigint NOT NULL DEFAULT 0,
  byte_count bigint NOT NULL DEFAULT 0,
  byte_limit bigint NOT NULL,
  is_frozen boolean NOT NULL DEFAULT false
) WITH (fillfactor = 50);
CREATE INDEX space_by_account ON space (account);

CREATE TABLE member (
  space uuid,
  id uuid,
  role smallint NOT NULL,
  token bytea NOT NULL,
  PRIMARY KEY (space, id)
);

CREATE TABLE replica (
  space uuid,
  id uuid,
  member uuid NOT NULL,
  cut_off bigint,
  number bigint NOT NULL DEFAULT 0,
  hash bytea NOT NULL DEFAULT decode(repeat('00', 32), 'hex'),
  PRIMARY KEY (space, id)
) WITH (fillfactor = 50);

CREATE TABLE segment (
  space uuid,
  position bigint,
  replica uuid NOT NULL,
  number bigint NOT NULL,
  hash bytea NOT NULL,
  body bytea NOT NULL,
  PRIMARY KEY (space, position),
  UNIQUE (space, replica, number)
) PARTITION BY HASH (space);

CREATE TABLE card (
  space uuid,
  replica uuid,
  number bigint NOT NULL,
  body bytea NOT NULL,
  PRIMARY KEY (space, replica)
);

CREATE TABLE snapshot (
  space uuid,
  replica uuid,
  number bigint,
  digest bytea,
  part_count integer NOT NULL,
  stored_count integer NOT NULL,
  PRIMARY KEY (space, replica, number, digest)
);

CREATE TABLE snapshot_part (
  space uuid,
  replica uuid,
  number bigint,
  digest bytea,
  part integer,
  body bytea NOT NULL,
  PRIMARY KEY (space, replica, number, digest, part)
) PARTITION BY HASH (space);

-- Sealed bytes cannot be compressed.
ALTER TABLE segment ALTER COLUMN body SET STORAGE EXTERNAL;
ALTER TABLE snapshot_part ALTER COLUMN body SET STORAGE EXTERNAL;
ALTER TABLE card ALTER COLUMN body SET STORAGE EXTERNAL;

DO $$
BEGIN
  FOR i IN 0..15 LOOP
    EXECUTE format('CREATE TABLE segment_%s PARTITION OF segment FOR VALUES WITH (MODULUS 16, REMAINDER %s)', i, i);
    EXECUTE format(
      'CREATE TABLE snapshot_part_%s PARTITION OF snapshot_part FOR VALUES WITH (MODULUS 16, REMAINDER %s)', i, i);
  END LOOP;
END $$;

-- Locks the row of a space until the transaction ends: every function that writes begins with it.
--
-- TH001: there is no such space. TH005: the space moves to another database.
CREATE FUNCTION lock_space(the_space uuid) RETURNS space LANGUAGE plpgsql AS $$
DECLARE
  found_space space%ROWTYPE;
BEGIN
  SELECT * INTO found_space FROM space WHERE id = the_space FOR UPDATE;
  IF NOT FOUND THEN RAISE EXCEPTION 'no space' USING ERRCODE = 'TH001'; END IF;
  IF found_space.is_frozen THEN RAISE EXCEPTION 'the space moves' USING ERRCODE = 'TH005'; END IF;
  RETURN found_space;
END $$;

-- The row of a replica as which a member may write, all NULL if it may not; a new one would be the member's.
--
-- Looked up in the write itself: the member may have been revoked since its request was authorised.
CREATE FUNCTION own_replica(the_space uuid, the_replica uuid, the_member uuid, a_reader_may boolean)
RETURNS replica LANGUAGE plpgsql STABLE AS $$
DECLARE
  its_role smallint;
  stream replica%ROWTYPE;
BEGIN
  SELECT role INTO its_role FROM member WHERE space = the_space AND id = the_member;
  IF NOT FOUND OR (its_role = 3 AND NOT a_reader_may) THEN RETURN NULL; END IF;
  SELECT * INTO stream FROM replica WHERE space = the_space AND id = the_replica;
  IF NOT FOUND THEN
    stream := (the_space, the_replica, the_member, NULL, 0, decode(repeat('00', 32), 'hex'));
  END IF;
  IF stream.member <> the_member THEN RETURN NULL; END IF;
  RETURN stream;
END $$;

-- As own_replica, and makes a new one the member's. TH002: denied.
CREATE FUNCTION take_replica(the_space uuid, the_replica uuid, the_member uuid, a_reader_may boolean)
RETURNS replica LANGUAGE plpgsql AS $$
DECLARE
  stream replica%ROWTYPE;
BEGIN
  stream := own_replica(the_space, the_replica, the_member, a_reader_may);
  IF stream.id IS NULL THEN RAISE EXCEPTION 'denied' USING ERRCODE = 'TH002'; END IF;
  INSERT INTO replica VALUES (stream.*) ON CONFLICT DO NOTHING;
  RETURN stream;
END $$;

CREATE FUNCTION note_change(the_space uuid, added_bytes bigint) RETURNS void LANGUAGE sql AS $$
  UPDATE space SET change_count = change_count + 1, byte_count = byte_count + added_bytes WHERE id = the_space;
$$;

-- Appends segments to a stream; the answers are those of HubAppendAnswer: 1 stored and 2 known, both with the position,
-- 3 fork, 4 gap with the last segment, 5 quota, 6 denied.
CREATE FUNCTION append_segments(
  the_space uuid, the_member uuid, the_replica uuid,
  numbers bigint[], previous_hashes bytea[], hashes bytea[], bodies bytea[])
RETURNS TABLE (answer smallint, number bigint, hash bytea) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  place space%ROWTYPE;
  stream replica%ROWTYPE;
  stored record;
  has_changed boolean := false;
BEGIN
  place := lock_space(the_space);
  stream := own_replica(the_space, the_replica, the_member, false);
  IF stream.id IS NULL THEN
    RETURN QUERY SELECT 6::smallint, NULL::bigint, NULL::bytea;
    RETURN;
  END IF;
  FOR i IN 1..cardinality(numbers) LOOP
    IF numbers[i] <= stream.number THEN
      SELECT segment.position, segment.hash INTO stored FROM segment
        WHERE segment.space = the_space AND segment.replica = the_replica AND segment.number = numbers[i];
      IF NOT FOUND THEN
        RETURN QUERY SELECT 4::smallint, stream.number, stream.hash;
        EXIT;
      ELSIF stored.hash <> hashes[i] THEN
        RETURN QUERY SELECT 3::smallint, NULL::bigint, NULL::bytea;
        EXIT;
      END IF;
      RETURN QUERY SELECT 2::smallint, stored.position, NULL::bytea;
      CONTINUE;
    END IF;
    IF numbers[i] > stream.cut_off THEN
      RETURN QUERY SELECT 6::smallint, NULL::bigint, NULL::bytea;
      EXIT;
    ELSIF numbers[i] <> stream.number + 1 OR previous_hashes[i] <> stream.hash THEN
      RETURN QUERY SELECT 4::smallint, stream.number, stream.hash;
      EXIT;
    ELSIF place.byte_count + octet_length(bodies[i]) > place.byte_limit THEN
      RETURN QUERY SELECT 5::smallint, NULL::bigint, NULL::bytea;
      EXIT;
    END IF;
    place.position := place.position + 1;
    place.byte_count := place.byte_count + octet_length(bodies[i]);
    INSERT INTO segment (space, position, replica, number, hash, body)
      VALUES (the_space, place.position, the_replica, numbers[i], hashes[i], bodies[i]);
    stream.number := numbers[i];
    stream.hash := hashes[i];
    has_changed := true;
    RETURN QUERY SELECT 1::smallint, place.position, NULL::bytea;
  END LOOP;
  IF has_changed THEN
    UPDATE space SET position = place.position, byte_count = place.byte_count, change_count = change_count + 1
      WHERE id = the_space;
    INSERT INTO replica VALUES (stream.*)
      ON CONFLICT (space, id) DO UPDATE SET number = stream.number, hash = stream.hash;
  END IF;
END $$;

CREATE FUNCTION put_account(the_account uuid, the_limit bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO account VALUES (the_account, the_limit) ON CONFLICT DO NOTHING;
  IF FOUND THEN RETURN; END IF;
  UPDATE account SET byte_limit = the_limit WHERE id = the_account;
  UPDATE space SET byte_limit = the_limit WHERE account = the_account;
END $$;

CREATE FUNCTION put_token(
  the_hash bytea, the_kind smallint, the_account uuid, the_space uuid, the_member uuid, the_role smallint, expiry bigint)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  -- Locked though it is not frozen: a move that begins now waits for this token.
  PERFORM FROM space WHERE id = the_space FOR SHARE;
  IF EXISTS (SELECT FROM space WHERE id = the_space AND is_frozen) THEN RAISE EXCEPTION 'the space moves' USING ERRCODE = 'TH005'; END IF;
  INSERT INTO token VALUES (the_hash, the_kind, the_account, the_space, the_member, the_role, expiry)
    ON CONFLICT (hash) DO UPDATE SET kind = the_kind, account = the_account, space = the_space, member = the_member,
      role = the_role, expires_at = expiry;
END $$;

-- TH004: there is a space with the id. TH006: the account has as many as it may have.
CREATE FUNCTION create_space(
  the_space uuid, the_account uuid, the_limit bigint, most_spaces bigint, the_member uuid, its_role smallint,
  its_token bytea)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  -- One after the other, or two at once would count the same.
  PERFORM FROM account WHERE id = the_account FOR UPDATE;
  INSERT INTO space (id, account, byte_limit) VALUES (the_space, the_account, the_limit) ON CONFLICT DO NOTHING;
  IF NOT FOUND THEN RAISE EXCEPTION 'the space exists' USING ERRCODE = 'TH004'; END IF;
  IF (SELECT count(*) FROM space WHERE account = the_account) > most_spaces THEN
    RAISE EXCEPTION 'too many spaces' USING ERRCODE = 'TH006';
  END IF;
  PERFORM add_member(the_space, the_member, its_role, its_token);
END $$;

CREATE FUNCTION add_member(the_space uuid, the_member uuid, its_role smallint, its_token bytea) RETURNS void
LANGUAGE sql AS $$
  INSERT INTO member (space, id, role, token) VALUES (the_space, the_member, its_role, its_token);
  INSERT INTO token (hash, kind, space, member, role) VALUES (its_token, 2, the_space, the_member, its_role)
    ON CONFLICT (hash) DO UPDATE SET kind = 2, space = the_space, member = the_member, role = its_role;
$$;

-- The role of the new member; nothing if the invitation is unknown, used or has expired, or its member was revoked.
CREATE FUNCTION join_space(the_space uuid, the_invitation bytea, the_member uuid, its_token bytea, the_time bigint)
RETURNS SETOF smallint LANGUAGE plpgsql AS $$
DECLARE
  its_role smallint;
BEGIN
  BEGIN
    PERFORM lock_space(the_space);
  EXCEPTION WHEN SQLSTATE 'TH001' THEN
    RETURN;
  END;
  DELETE FROM token WHERE hash = the_invitation AND kind = 3 AND space = the_space AND expires_at > the_time
    AND EXISTS (SELECT FROM member WHERE member.space = the_space AND member.id = token.member)
    RETURNING role INTO its_role;
  IF NOT FOUND THEN RETURN; END IF;
  PERFORM add_member(the_space, the_member, its_role, its_token);
  RETURN NEXT its_role;
END $$;

CREATE FUNCTION revoke_replica(the_space uuid, the_replica uuid, the_number bigint) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
  its_member uuid;
BEGIN
  BEGIN
    PERFORM lock_space(the_space);
  EXCEPTION WHEN SQLSTATE 'TH001' THEN
    RETURN false;
  END;
  UPDATE replica SET cut_off = least(cut_off, the_number) WHERE space = the_space AND id = the_replica
    RETURNING member INTO its_member;
  IF NOT FOUND THEN RETURN false; END IF;
  DELETE FROM token USING member
    WHERE member.space = the_space AND member.id = its_member AND token.hash = member.token;
  DELETE FROM member WHERE space = the_space AND id = its_member;
  RETURN true;
END $$;

-- TH003: the space has no room. TH007: it has as many cards as it may have.
CREATE FUNCTION put_card(
  the_space uuid, the_member uuid, the_replica uuid, the_number bigint, the_body bytea, most_cards bigint)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  place space%ROWTYPE;
  known card%ROWTYPE;
  added bigint;
BEGIN
  place := lock_space(the_space);
  PERFORM take_replica(the_space, the_replica, the_member, true);
  SELECT * INTO known FROM card WHERE space = the_space AND replica = the_replica;
  IF known.number > the_number THEN RETURN; END IF;
  IF known.number IS NULL AND (SELECT count(*) FROM card WHERE space = the_space) >= most_cards THEN
    RAISE EXCEPTION 'too many cards' USING ERRCODE = 'TH007';
  END IF;
  added := octet_length(the_body) - coalesce(octet_length(known.body), 0);
  IF place.byte_count + added > place.byte_limit THEN RAISE EXCEPTION 'no room' USING ERRCODE = 'TH003'; END IF;
  INSERT INTO card (space, replica, number, body) VALUES (the_space, the_replica, the_number, the_body)
    ON CONFLICT (space, replica) DO UPDATE SET number = the_number, body = the_body;
  PERFORM note_change(the_space, added);
END $$;

-- Deletes a snapshot and returns its bytes.
CREATE FUNCTION delete_snapshot(the_space uuid, the_replica uuid, the_number bigint, the_digest bytea) RETURNS bigint
LANGUAGE sql AS $$
  DELETE FROM snapshot
    WHERE space = the_space AND replica = the_replica AND number = the_number AND digest = the_digest;
  WITH deleted AS (
    DELETE FROM snapshot_part
      WHERE space = the_space AND replica = the_replica AND number = the_number AND digest = the_digest
      RETURNING octet_length(body) AS byte_count)
  SELECT coalesce(sum(byte_count), 0)::bigint FROM deleted;
$$;

-- Whether the snapshot is complete from now on. TH003: the space has no room.
CREATE FUNCTION put_part(
  the_space uuid, the_member uuid, the_replica uuid, the_number bigint, the_digest bytea, the_count integer,
  the_part integer, the_body bytea)
RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  place space%ROWTYPE;
  known bigint;
  added bigint;
  stored snapshot%ROWTYPE;
  is_complete boolean;
BEGIN
  place := lock_space(the_space);
  PERFORM take_replica(the_space, the_replica, the_member, false);
  SELECT octet_length(body) INTO known FROM snapshot_part
    WHERE space = the_space AND replica = the_replica AND number = the_number AND digest = the_digest
    AND part = the_part;
  added := octet_length(the_body) - coalesce(known, 0);
  INSERT INTO snapshot (space, replica, number, digest, part_count, stored_count)
    VALUES (the_space, the_replica, the_number, the_digest, the_count, CASE WHEN known IS NULL THEN 1 ELSE 0 END)
    ON CONFLICT (space, replica, number, digest) DO UPDATE
      SET part_count = the_count, stored_count = snapshot.stored_count + excluded.stored_count
    RETURNING * INTO stored;
  -- A member that begins another one does not end those that were interrupted.
  IF known IS NULL AND stored.stored_count = 1 THEN
    added := added - coalesce((
      SELECT sum(delete_snapshot(the_space, the_replica, number, digest)) FROM snapshot
        WHERE space = the_space AND replica = the_replica AND part_count <> stored_count
        AND (number, digest) <> (the_number, the_digest)), 0);
  END IF;
  IF place.byte_count + added > place.byte_limit THEN RAISE EXCEPTION 'no room' USING ERRCODE = 'TH003'; END IF;
  INSERT INTO snapshot_part (space, replica, number, digest, part, body)
    VALUES (the_space, the_replica, the_number, the_digest, the_part, the_body)
    ON CONFLICT (space, replica, number, digest, part) DO UPDATE SET body = the_body;
  is_complete := known IS NULL AND stored.stored_count = the_count;
  -- A part alone is of no use to others: they are not woken for it.
  UPDATE space SET byte_count = byte_count + added, change_count = change_count + is_complete::integer
    WHERE id = the_space;
  RETURN is_complete;
END $$;

-- Deletes segments up to a number, though not the last one of the stream, and snapshots.
CREATE FUNCTION delete_old(
  the_space uuid, the_member uuid, the_replica uuid, up_to bigint, snapshot_numbers bigint[], digests bytea[])
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  stream replica%ROWTYPE;
  freed bigint;
BEGIN
  PERFORM lock_space(the_space);
  stream := take_replica(the_space, the_replica, the_member, false);
  WITH deleted AS (
    DELETE FROM segment WHERE space = the_space AND replica = the_replica AND number <= least(up_to, stream.number - 1)
      RETURNING octet_length(body) AS byte_count)
  SELECT coalesce(sum(byte_count), 0) INTO freed FROM deleted;
  FOR i IN 1..cardinality(snapshot_numbers) LOOP
    freed := freed + delete_snapshot(the_space, the_replica, snapshot_numbers[i], digests[i]);
  END LOOP;
  PERFORM note_change(the_space, -freed);
END $$;
