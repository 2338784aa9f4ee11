-- The progress of erasing a request's customer, or null if nobody asked for it. `waiting` messages are on their way; the sweep
-- erases them once they have arrived or were given up.
create or replace function capacity.erasure_state(p_request_id text) returns jsonb
language plpgsql stable set search_path = pg_catalog, pg_temp set enable_seqscan = off
as $$
begin
  return (
    select jsonb_build_object(
             'request_id', x.request_id, 'state', case when x.finished_at is null then 'waiting' else 'done' end,
             'erased_at', x.requested_at, 'erased_by', x.requested_by, 'why', x.why, 'finished_at', x.finished_at, 'texts', x.texts,
             'messages', jsonb_build_object('erased', x.messages, 'skipped', x.skipped, 'waiting', x.waiting))
      from capacity.erasures x where x.request_id = p_request_id
  );
end
$$;
comment on function capacity.erasure_state(text) is 'The erasure of a request''s customer: who, when, why, and what still waits.';
