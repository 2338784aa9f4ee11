-- Only for policies and views: who reads, looked up once per transaction. The first lookup is kept in two settings that end with the
-- transaction (resolve_reader.sql): the answer, and what it was made from, which is the login, the role, the exact text of the claims, and
-- the snapshot. When one of those differs, it is looked up again. The snapshot says which transactions are committed: as usual, the next
-- query sees that another session removed a member. Writes of this transaction to the directory clear both settings (forget_reader.sql).
--
-- Decisions must not use this, because anyone who writes SQL can write a setting. So it is trusted only in sessions whose login verifies
-- tokens, where anyone who could write it could write the claims as well; in any other session the reader is nobody, whatever is set.
--
-- Never raises: an unknown reader sees nothing, and a text that is not ours is looked up again.
create or replace function directory.reader() returns directory.standing
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  -- Null if the login does not verify tokens.
  v_made_from text := concat_ws(' ', session_user, current_setting('role', true), pg_current_snapshot()) || ' ' || headroom.claims_text();
begin
  if v_made_from is null or current_setting('role', true) <> 'authenticated' then
    return null;
  -- On a standby the snapshot does not show which transactions are committed.
  elsif current_setting('headroom.reader_made_from', true) = v_made_from and not pg_is_in_recovery() then
    begin
      return nullif(current_setting('headroom.reader', true), '')::directory.standing;
    exception when data_exception then
      null;
    end;
  end if;
  return nullif(directory.resolve_reader(v_made_from), '')::directory.standing;
end
$$;
comment on function directory.reader() is 'Who reads, with roles, groups and whom they stand in for; looked up once per transaction.';
