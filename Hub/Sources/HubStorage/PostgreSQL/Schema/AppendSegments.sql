
-- Appends segments to the streams of several requests, each of another space, and answers each segment.
--
-- The segments of request i are those behind ends[i - 1] and up to ends[i]. The answers are those of HubAppendAnswer: 1 stored
-- and 2 known, both with the position, 3 fork, 4 gap with the last segment, 5 quota, 6 denied. Three more are about a request as
-- a whole: 7 there is no such space, 8 the space moves to another database, 9 there are too many replicas. After any answer but
-- 1 and 2 the rest of the request has no answer. No answer is an error, so no request undoes what the others have stored.
--
-- Unless it waits, it leaves requests whose space is locked out of the answers, and the hub asks for each of them alone. So a
-- space that is locked for long delays no other one, and two calls cannot wait for each other.
--
-- The settings: planning each call would cost a seventh of it, and by the statistics of a young database whole tables would be
-- read, where a few rows by their keys are wanted.
CREATE OR REPLACE FUNCTION append_segments(
  waits boolean, spaces uuid[], members uuid[], replicas uuid[], ends integer[],
  numbers bigint[], previous_hashes bytea[], hashes bytea[], bodies bytea[])
RETURNS TABLE (request integer, answer smallint, number bigint, hash bytea) LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
#variable_conflict use_column
DECLARE
  locked uuid[];
  place record;
  stored record;
  stream_number bigint;
  stream_hash bytea;
  space_position bigint;
  space_bytes bigint;
  positions bigint[] := array_fill(0::bigint, ARRAY[cardinality(numbers)]);
  owners integer[] := array_fill(0, ARRAY[cardinality(numbers)]);
  changed integer[] := '{}';
  new_positions bigint[] := '{}';
  new_bytes bigint[] := '{}';
  new_numbers bigint[] := '{}';
  new_hashes bytea[] := '{}';
BEGIN
  IF waits THEN
    SELECT array_agg(id) INTO locked
      FROM (SELECT id FROM space WHERE id = ANY (spaces) ORDER BY id FOR UPDATE) AS awaited;
  ELSE
    SELECT array_agg(id) INTO locked
      FROM (SELECT id FROM space WHERE id = ANY (spaces) FOR UPDATE SKIP LOCKED) AS free;
  END IF;
  -- A statement of its own, which sees everything committed before the locks. The member is looked up here, since it may have been
  -- revoked since its request was authorised.
  FOR place IN
    SELECT asked.i::integer, space.id, space.position, space.byte_count, space.byte_limit, space.is_frozen,
        member.role, replica.member, replica.cut_off, coalesce(replica.number, 0) AS number,
        coalesce(replica.hash, '\x0000000000000000000000000000000000000000000000000000000000000000') AS hash
      FROM unnest(spaces, members, replicas) WITH ORDINALITY AS asked (space, member, replica, i)
      LEFT JOIN space ON space.id = asked.space
      LEFT JOIN member ON member.space = asked.space AND member.id = asked.member
      LEFT JOIN replica ON replica.space = asked.space AND replica.id = asked.replica
      WHERE space.id IS NULL OR space.id = ANY (locked)
  LOOP
    request := place.i;
    number := NULL;
    hash := NULL;
    answer := CASE
      WHEN place.id IS NULL THEN 7
      WHEN place.is_frozen THEN 8
      WHEN place.role IS NULL OR place.role = 3 OR place.member <> members[request] THEN 6
      WHEN place.member IS NULL AND NOT may_add_replica(place.id, members[request]) THEN 9
      ELSE 0 END;
    IF answer > 0 THEN
      RETURN NEXT;
      CONTINUE;
    END IF;
    stream_number := place.number;
    stream_hash := place.hash;
    space_position := place.position;
    space_bytes := place.byte_count;
    FOR i IN coalesce(ends[request - 1], 0) + 1 .. ends[request] LOOP
      number := NULL;
      hash := NULL;
      IF numbers[i] <= stream_number THEN
        SELECT segment.position, segment.hash INTO stored FROM segment
          WHERE segment.space = place.id AND segment.replica = replicas[request] AND segment.number = numbers[i];
        answer := CASE WHEN stored IS NULL THEN 4 WHEN stored.hash <> hashes[i] THEN 3 ELSE 2 END;
        number := stored.position;
      ELSIF numbers[i] > place.cut_off THEN
        answer := 6;
      ELSIF numbers[i] <> stream_number + 1 OR previous_hashes[i] <> stream_hash THEN
        answer := 4;
      ELSIF space_bytes + octet_length(bodies[i]) > place.byte_limit THEN
        answer := 5;
      ELSE
        answer := 1;
        space_position := space_position + 1;
        space_bytes := space_bytes + octet_length(bodies[i]);
        stream_number := numbers[i];
        stream_hash := hashes[i];
        number := space_position;
        positions[i] := space_position;
        owners[i] := request;
      END IF;
      IF answer = 4 THEN
        number := stream_number;
        hash := stream_hash;
      END IF;
      RETURN NEXT;
      EXIT WHEN answer > 2;
    END LOOP;
    IF space_position > place.position THEN
      changed := changed || request;
      new_positions := new_positions || space_position;
      new_bytes := new_bytes || space_bytes;
      new_numbers := new_numbers || stream_number;
      new_hashes := new_hashes || stream_hash;
    END IF;
  END LOOP;
  IF cardinality(changed) = 0 THEN RETURN; END IF;
  INSERT INTO segment (space, position, replica, number, hash, body)
    SELECT spaces[owner], position, replicas[owner], sent.number, sent.hash, body
      FROM unnest(owners, positions, numbers, hashes, bodies) AS sent (owner, position, number, hash, body)
      WHERE owner > 0;
  UPDATE space SET position = result.position, byte_count = result.bytes, change_count = change_count + 1
    FROM unnest(changed, new_positions, new_bytes) AS result (i, position, bytes) WHERE space.id = spaces[result.i];
  INSERT INTO replica (space, id, member, number, hash)
    SELECT spaces[result.i], replicas[result.i], members[result.i], result.number, result.hash
      FROM unnest(changed, new_numbers, new_hashes) AS result (i, number, hash)
    ON CONFLICT (space, id) DO UPDATE SET number = excluded.number, hash = excluded.hash;
END $$;
