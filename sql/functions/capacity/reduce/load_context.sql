-- Locks a request and reads everything that a decision about it depends on. Only the request's row is locked. Where somebody must be able
-- to read it first (p_reader_id), that is a condition of the lock: a row that they may not read is not locked and looks like one that
-- does not exist, and the condition is checked again on a row that changed during the wait.
--
-- The rest is read after the lock was taken, in its own statement, which therefore sees what was committed in the meantime: an actor who
-- lost a role while waiting has lost it. That holds where each statement sees what is committed (READ COMMITTED), as in all our entrances;
-- a login that decides in REPEATABLE READ decides by the state at the beginning of its transaction.
create or replace function capacity.load_context(
  p_request_id text,
  p_event_type public.capacity_request_event_type,
  p_actor capacity.actor,
  p_workspace_id text default null,
  p_reader_id text default null
) returns capacity.context
language plpgsql volatile set search_path = pg_catalog, pg_temp set enable_seqscan = off
as $$
declare
  v_request capacity.requests;
  v_context capacity.context;
begin
  if p_reader_id is null then
    select r.* into v_request from capacity.requests r
     where r.id = p_request_id and (p_workspace_id is null or r.workspace_id = p_workspace_id)
       for update;
  else
    select r.* into v_request from capacity.requests r
     where r.id = p_request_id and r.workspace_id = p_workspace_id
       and (select capacity.may_read(r, row(s.*)::directory.standing) from directory.standings s
             where s.workspace_id = p_workspace_id and s.member_id = p_reader_id)
       for update;
  end if;
  if not found then
    perform capacity.no_such_request(p_request_id);
  end if;
  v_context := capacity.context_of(v_request, p_actor, p_event_type, p_event_type::text);
  -- A caller who lost the right to read while waiting gets the answer they would get now.
  if p_reader_id is not null and p_reader_id = p_actor.id and not capacity.may_read(v_request, v_context.standing) then
    perform capacity.no_such_request(p_request_id);
  end if;
  return v_context;
end
$$;
comment on function capacity.load_context(text, public.capacity_request_event_type, capacity.actor, text, text)
  is 'Locks a request and reads what a decision about it depends on. Nullable: p_workspace_id, p_reader_id.';
