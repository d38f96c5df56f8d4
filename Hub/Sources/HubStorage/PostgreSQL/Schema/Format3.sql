
-- Format 3: the token of a revoked member stays, of kind 4, so that its device learns that it was revoked.

CREATE OR REPLACE FUNCTION revoke_replica(the_space uuid, the_replica uuid, the_number bigint) RETURNS boolean
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
  UPDATE token SET kind = 4 FROM member
    WHERE member.space = the_space AND member.id = its_member AND token.hash = member.token;
  DELETE FROM member WHERE space = the_space AND id = its_member;
  RETURN true;
END $$;
