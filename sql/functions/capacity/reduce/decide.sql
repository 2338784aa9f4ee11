-- One decision, for an actor whom the entrance has verified: load the context, judge it, write the result. Entrances
-- that answer with more than this, or must first know whether the actor may read the request, take the same three steps.
create or replace function capacity.decide(
  p_request_id text,
  p_event_type public.capacity_request_event_type,
  p_actor capacity.actor,
  p_payload jsonb,
  p_expected_version integer default null,
  out request capacity.requests,
  out repeated boolean,
  out decided_by text,
  out decided_at timestamptz
)
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_context capacity.context := capacity.load_context(p_request_id, p_event_type, p_actor);
  v_verdict capacity.verdict := capacity.judge(v_context, p_expected_version);
  v_applied record := capacity.apply(v_context, v_verdict, p_payload);
begin
  request := v_applied.request;
  repeated := v_verdict.repeated;
  decided_by := v_verdict.decided_by;
  decided_at := v_verdict.decided_at;
end
$$;
comment on function capacity.decide(text, public.capacity_request_event_type, capacity.actor, jsonb, integer)
  is 'Records an event and everything that follows from it, or answers who decided before. Nullable: decided_by, decided_at.';
