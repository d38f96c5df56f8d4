-- Format 4: recovery codes of owners; rows that count; limits on the cards and replicas of a member; functions for the operator.
-- The numbers are those of HubRowLimits.

-- isShared: all members of the space could have the code.
CREATE TABLE recovery (
  verifier bytea PRIMARY KEY,
  space uuid NOT NULL,
  member uuid NOT NULL,
  is_shared boolean NOT NULL,
  is_replaced boolean NOT NULL DEFAULT false,
  stored_at bigint NOT NULL
);
CREATE INDEX recovery_by_space ON recovery (space);

-- A member, an invitation and a part of a snapshot each count 128 bytes besides sealed bytes.
UPDATE space SET byte_count = byte_count + 128 * (
  (SELECT count(*) FROM token WHERE token.space = space.id) +
  (SELECT count(*) FROM snapshot_part WHERE snapshot_part.space = space.id));

-- TH008: the member, or the space, has as many replicas as it may have.
CREATE FUNCTION may_add_replica(the_space uuid, the_member uuid) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT count(*) < 2000 AND count(*) FILTER (WHERE member = the_member) < 50 FROM replica WHERE space = the_space;
$$;

CREATE OR REPLACE FUNCTION take_replica(the_space uuid, the_replica uuid, the_member uuid, a_reader_may boolean)
RETURNS replica LANGUAGE plpgsql AS $$
DECLARE
  stream replica%ROWTYPE;
BEGIN
  stream := own_replica(the_space, the_replica, the_member, a_reader_may);
  IF stream.id IS NULL THEN RAISE EXCEPTION 'denied' USING ERRCODE = 'TH002'; END IF;
  IF NOT EXISTS (SELECT FROM replica WHERE space = the_space AND id = the_replica) THEN
    IF NOT may_add_replica(the_space, the_member) THEN
      RAISE EXCEPTION 'too many replicas' USING ERRCODE = 'TH008';
    END IF;
    INSERT INTO replica VALUES (stream.*);
  END IF;
  RETURN stream;
END $$;

-- Invitations count as rows of their space; expired ones are deleted.
DROP FUNCTION put_token;
CREATE FUNCTION put_token(
  the_hash bytea, the_kind smallint, the_account uuid, the_space uuid, the_member uuid, the_role smallint, expiry bigint,
  the_time bigint)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  place space%ROWTYPE;
  expired bigint;
BEGIN
  -- Locked even if it is not frozen, so that a move that begins now waits for this token.
  SELECT * INTO place FROM space WHERE id = the_space FOR UPDATE;
  IF place.is_frozen THEN RAISE EXCEPTION 'the space moves' USING ERRCODE = 'TH005'; END IF;
  IF the_kind = 3 AND place.id IS NOT NULL THEN
    WITH gone AS (DELETE FROM token WHERE space = the_space AND kind = 3 AND expires_at <= the_time RETURNING 1)
      SELECT count(*) INTO expired FROM gone;
    IF place.byte_count + 128 - 128 * expired > place.byte_limit THEN
      RAISE EXCEPTION 'no room' USING ERRCODE = 'TH003';
    END IF;
    UPDATE space SET byte_count = byte_count + 128 - 128 * expired WHERE id = the_space;
  END IF;
  INSERT INTO token VALUES (the_hash, the_kind, the_account, the_space, the_member, the_role, expiry)
    ON CONFLICT (hash) DO UPDATE SET kind = the_kind, account = the_account, space = the_space, member = the_member,
      role = the_role, expires_at = expiry;
END $$;

-- TH012: the token already belongs to an account, an invitation or a member.
CREATE OR REPLACE FUNCTION add_member(the_space uuid, the_member uuid, its_role smallint, its_token bytea) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO member (space, id, role, token) VALUES (the_space, the_member, its_role, its_token);
  INSERT INTO token (hash, kind, space, member, role) VALUES (its_token, 2, the_space, the_member, its_role)
    ON CONFLICT DO NOTHING;
  IF NOT FOUND THEN RAISE EXCEPTION 'the token is known' USING ERRCODE = 'TH012'; END IF;
END $$;

CREATE OR REPLACE FUNCTION create_space(
  the_space uuid, the_account uuid, the_limit bigint, most_spaces bigint, the_member uuid, its_role smallint,
  its_token bytea)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  -- One call after the other, or two at the same time would see the same count.
  PERFORM FROM account WHERE id = the_account FOR UPDATE;
  INSERT INTO space (id, account, byte_limit, byte_count) VALUES (the_space, the_account, the_limit, 128)
    ON CONFLICT DO NOTHING;
  IF NOT FOUND THEN RAISE EXCEPTION 'the space exists' USING ERRCODE = 'TH004'; END IF;
  IF (SELECT count(*) FROM space WHERE account = the_account) > most_spaces THEN
    RAISE EXCEPTION 'too many spaces' USING ERRCODE = 'TH006';
  END IF;
  PERFORM add_member(the_space, the_member, its_role, its_token);
END $$;

-- Marks recovery codes of a space as replaced: those of one member, the shared ones, or all. Forgets the oldest replaced ones.
CREATE FUNCTION replace_recoveries(the_space uuid, the_member uuid, shared_too boolean, all_of_them boolean, besides bytea)
RETURNS void LANGUAGE sql AS $$
  UPDATE recovery SET is_replaced = true WHERE space = the_space AND verifier IS DISTINCT FROM besides
    AND (all_of_them OR member = the_member OR shared_too AND is_shared);
  DELETE FROM recovery WHERE verifier IN (
    SELECT verifier FROM recovery WHERE space = the_space AND is_replaced ORDER BY stored_at DESC OFFSET 32);
$$;

-- The role of the new member; nothing if the invitation is unknown, used or has expired, or its member was revoked.
CREATE OR REPLACE FUNCTION join_space(
  the_space uuid, the_invitation bytea, the_member uuid, its_token bytea, the_time bigint)
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
  -- A reader would have a shared code, too, so shared codes are replaced.
  IF its_role = 3 THEN PERFORM replace_recoveries(the_space, NULL, true, false, NULL); END IF;
  RETURN NEXT its_role;
END $$;

-- The member that is revoked; nothing if there is no such replica.
DROP FUNCTION revoke_replica;
CREATE FUNCTION revoke_replica(the_space uuid, the_replica uuid, the_number bigint) RETURNS SETOF uuid
LANGUAGE plpgsql AS $$
DECLARE
  its_member uuid;
  freed bigint;
  gone bigint;
BEGIN
  BEGIN
    PERFORM lock_space(the_space);
  EXCEPTION WHEN SQLSTATE 'TH001' THEN
    RETURN;
  END;
  UPDATE replica SET cut_off = least(cut_off, the_number) WHERE space = the_space AND id = the_replica
    RETURNING member INTO its_member;
  IF NOT FOUND THEN RETURN; END IF;
  UPDATE replica SET cut_off = least(cut_off, number)
    WHERE space = the_space AND member = its_member AND id <> the_replica;
  UPDATE token SET kind = 4, member = NULL FROM member
    WHERE member.space = the_space AND member.id = its_member AND token.hash = member.token;
  DELETE FROM member WHERE space = the_space AND id = its_member;
  WITH deleted AS (
    DELETE FROM card USING replica WHERE card.space = the_space AND replica.space = the_space
      AND replica.id = card.replica AND replica.member = its_member AND replica.number = 0
      RETURNING octet_length(body) AS byte_count)
  SELECT coalesce(sum(byte_count), 0) INTO freed FROM deleted;
  WITH deleted AS (DELETE FROM token WHERE space = the_space AND kind = 3 AND member = its_member RETURNING 1)
    SELECT count(*) INTO gone FROM deleted;
  PERFORM replace_recoveries(the_space, NULL, true, true, NULL);
  PERFORM note_change(the_space, -freed - 128 * gone);
  RETURN NEXT its_member;
END $$;

-- TH003: the space has no room. TH007: it has as many cards as it may have; those of revoked members do not count.
CREATE OR REPLACE FUNCTION put_card(
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
  IF known.number IS NULL AND (
    SELECT count(*) FROM card JOIN replica ON replica.space = card.space AND replica.id = card.replica
      WHERE card.space = the_space AND replica.cut_off IS NULL) >= most_cards THEN
    RAISE EXCEPTION 'too many cards' USING ERRCODE = 'TH007';
  END IF;
  added := octet_length(the_body) - coalesce(octet_length(known.body), 0);
  IF place.byte_count + added > place.byte_limit THEN RAISE EXCEPTION 'no room' USING ERRCODE = 'TH003'; END IF;
  INSERT INTO card (space, replica, number, body) VALUES (the_space, the_replica, the_number, the_body)
    ON CONFLICT (space, replica) DO UPDATE SET number = the_number, body = the_body;
  PERFORM note_change(the_space, added);
END $$;

-- Deletes a snapshot and returns what it counted.
CREATE OR REPLACE FUNCTION delete_snapshot(the_space uuid, the_replica uuid, the_number bigint, the_digest bytea)
RETURNS bigint LANGUAGE sql AS $$
  DELETE FROM snapshot
    WHERE space = the_space AND replica = the_replica AND number = the_number AND digest = the_digest;
  WITH deleted AS (
    DELETE FROM snapshot_part
      WHERE space = the_space AND replica = the_replica AND number = the_number AND digest = the_digest
      RETURNING octet_length(body) + 128 AS byte_count)
  SELECT coalesce(sum(byte_count), 0)::bigint FROM deleted;
$$;

-- Whether this part completes the snapshot; the newest four of a replica are kept. TH003: the space has no room.
CREATE OR REPLACE FUNCTION put_part(
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
  SELECT octet_length(body) + 128 INTO known FROM snapshot_part
    WHERE space = the_space AND replica = the_replica AND number = the_number AND digest = the_digest
    AND part = the_part;
  added := octet_length(the_body) + 128 - coalesce(known, 0);
  INSERT INTO snapshot (space, replica, number, digest, part_count, stored_count)
    VALUES (the_space, the_replica, the_number, the_digest, the_count, CASE WHEN known IS NULL THEN 1 ELSE 0 END)
    ON CONFLICT (space, replica, number, digest) DO UPDATE
      SET part_count = the_count, stored_count = snapshot.stored_count + excluded.stored_count
    RETURNING * INTO stored;
  -- A member that begins another snapshot will not finish those that it left incomplete: they are deleted.
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
  IF is_complete THEN
    added := added - coalesce((
      SELECT sum(delete_snapshot(the_space, the_replica, old.number, old.digest)) FROM (
        SELECT number, digest FROM snapshot
          WHERE space = the_space AND replica = the_replica AND part_count = stored_count
          ORDER BY number DESC, digest DESC OFFSET 4) AS old), 0);
  END IF;
  -- An incomplete snapshot is of no use to others, so they are not woken for it.
  UPDATE space SET byte_count = byte_count + added, change_count = change_count + is_complete::integer
    WHERE id = the_space;
  RETURN is_complete;
END $$;

-- Deletes segments up to a number, except the last one of the stream, and snapshots. An owner may do this for a revoked replica;
-- then the last segment is deleted, too.
CREATE OR REPLACE FUNCTION delete_old(
  the_space uuid, the_member uuid, the_replica uuid, up_to bigint, snapshot_numbers bigint[], digests bytea[])
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  stream replica%ROWTYPE;
  freed bigint;
BEGIN
  PERFORM lock_space(the_space);
  SELECT * INTO stream FROM replica WHERE space = the_space AND id = the_replica AND cut_off IS NOT NULL
    AND EXISTS (SELECT FROM member WHERE space = the_space AND id = the_member AND role = 1);
  IF stream.id IS NULL THEN
    stream := take_replica(the_space, the_replica, the_member, false);
    stream.number := stream.number - 1;
  END IF;
  WITH deleted AS (
    DELETE FROM segment WHERE space = the_space AND replica = the_replica AND number <= least(up_to, stream.number)
      RETURNING octet_length(body) AS byte_count)
  SELECT coalesce(sum(byte_count), 0) INTO freed FROM deleted;
  FOR i IN 1..cardinality(snapshot_numbers) LOOP
    freed := freed + delete_snapshot(the_space, the_replica, snapshot_numbers[i], digests[i]);
  END LOOP;
  PERFORM note_change(the_space, -freed);
END $$;

-- The member whose role was changed; nothing if there is no such replica, or its member was revoked.
CREATE FUNCTION set_role(the_space uuid, the_replica uuid, its_role smallint) RETURNS SETOF uuid LANGUAGE plpgsql AS $$
DECLARE
  its_member uuid;
BEGIN
  BEGIN
    PERFORM lock_space(the_space);
  EXCEPTION WHEN SQLSTATE 'TH001' THEN
    RETURN;
  END;
  SELECT replica.member INTO its_member FROM replica WHERE space = the_space AND id = the_replica;
  UPDATE member SET role = its_role WHERE space = the_space AND id = its_member;
  IF NOT FOUND THEN RETURN; END IF;
  UPDATE token SET role = its_role FROM member
    WHERE member.space = the_space AND member.id = its_member AND token.hash = member.token;
  PERFORM replace_recoveries(
    the_space, CASE WHEN its_role <> 1 THEN its_member END, its_role = 3, false, NULL);
  PERFORM note_change(the_space, 0);
  RETURN NEXT its_member;
END $$;

-- TH002: the member is not an owner. TH009: the code was replaced. TH010: the space needs a code that only its owner has.
CREATE FUNCTION put_recovery(
  the_space uuid, the_member uuid, the_verifier bytea, the_code_is_shared boolean, the_time bigint)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  known recovery%ROWTYPE;
BEGIN
  PERFORM lock_space(the_space);
  IF NOT EXISTS (SELECT FROM member WHERE space = the_space AND id = the_member AND role = 1) THEN
    RAISE EXCEPTION 'denied' USING ERRCODE = 'TH002';
  END IF;
  SELECT * INTO known FROM recovery WHERE verifier = the_verifier;
  IF known.space <> the_space THEN RAISE EXCEPTION 'denied' USING ERRCODE = 'TH002'; END IF;
  IF known.is_replaced THEN RAISE EXCEPTION 'replaced' USING ERRCODE = 'TH009'; END IF;
  IF the_code_is_shared AND (
    EXISTS (SELECT FROM member WHERE space = the_space AND role = 3)
    OR EXISTS (SELECT FROM recovery WHERE space = the_space AND NOT is_shared)) THEN
    RAISE EXCEPTION 'shared' USING ERRCODE = 'TH010';
  END IF;
  PERFORM replace_recoveries(the_space, the_member, NOT the_code_is_shared, false, the_verifier);
  INSERT INTO recovery VALUES (the_verifier, the_space, the_member, the_code_is_shared, false, the_time)
    ON CONFLICT (verifier) DO UPDATE SET member = the_member, is_shared = the_code_is_shared, stored_at = the_time;
END $$;

-- The id of the owner that a recovery code adds; nothing if the code is not valid, or the token belongs to somebody else.
CREATE FUNCTION add_owner(the_space uuid, the_verifier bytea, the_member uuid, its_token bytea) RETURNS SETOF uuid
LANGUAGE plpgsql AS $$
DECLARE
  place space%ROWTYPE;
  known token%ROWTYPE;
BEGIN
  place := lock_space(the_space);
  IF NOT EXISTS (
    SELECT FROM recovery WHERE verifier = the_verifier AND space = the_space AND NOT is_replaced) THEN RETURN; END IF;
  SELECT * INTO known FROM token WHERE hash = its_token;
  IF FOUND THEN
    IF known.kind = 2 AND known.space = the_space AND known.role = 1 THEN RETURN NEXT known.member; END IF;
    RETURN;
  END IF;
  IF place.byte_count + 128 > place.byte_limit THEN RAISE EXCEPTION 'no room' USING ERRCODE = 'TH003'; END IF;
  UPDATE space SET byte_count = byte_count + 128 WHERE id = the_space;
  PERFORM add_member(the_space, the_member, 1::smallint, its_token);
  RETURN NEXT the_member;
END $$;

CREATE FUNCTION erase_space(the_space uuid) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM space WHERE id = the_space FOR UPDATE;
  IF NOT FOUND THEN RETURN false; END IF;
  DELETE FROM token WHERE space = the_space;
  DELETE FROM member WHERE space = the_space;
  DELETE FROM recovery WHERE space = the_space;
  DELETE FROM replica WHERE space = the_space;
  DELETE FROM segment WHERE space = the_space;
  DELETE FROM card WHERE space = the_space;
  DELETE FROM snapshot WHERE space = the_space;
  DELETE FROM snapshot_part WHERE space = the_space;
  DELETE FROM space WHERE id = the_space;
  RETURN true;
END $$;

-- TH011: the account has spaces.
CREATE FUNCTION erase_account(the_account uuid) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM account WHERE id = the_account FOR UPDATE;
  IF EXISTS (SELECT FROM space WHERE account = the_account) THEN
    RAISE EXCEPTION 'it has spaces' USING ERRCODE = 'TH011';
  END IF;
  DELETE FROM token WHERE account = the_account;
  DELETE FROM account WHERE id = the_account;
END $$;
