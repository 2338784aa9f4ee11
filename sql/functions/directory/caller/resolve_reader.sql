-- Looks up who reads, and keeps it for the rest of the transaction: a member's row as text, empty for nobody, or whether a machine's key is
-- valid. The text of a row is parsed faster than any other form.
--
-- Volatile, so that it sees what this transaction wrote last: with the snapshot of the query that asks, a cursor that was opened before a
-- change of the directory would read, and keep, the state before it. Rolling back to a savepoint undoes what was kept since, as it undoes
-- what was written to the directory since.
create or replace function directory.resolve_reader(p_made_from text) returns text
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_member directory.members;
  v_standing directory.standing;
  v_reader text := '';
  v_made_from text;
begin
  if current_setting('role', true) = 'service_role' then
    v_reader := case when directory.revocation() is null then 'valid' else 'revoked' end;
  else
    v_member := directory.signed_in_member();
    if v_member.id is not null then
      v_standing := directory.standing_of(v_member.workspace_id, v_member.id);
      v_reader := coalesce(v_standing::text, '');
    end if;
  end if;
  -- Expressions and not queries, which take many times longer.
  v_made_from := set_config('headroom.reader_made_from', p_made_from, true);
  return set_config('headroom.reader', v_reader, true);
end
$$;
comment on function directory.resolve_reader(text) is 'Looks up who reads and keeps it until the transaction ends.';
