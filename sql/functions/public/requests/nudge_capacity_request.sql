-- Asks those who should decide to do so, on behalf of the requester or an admin, as often as the workspace allows.
create or replace function public.nudge_capacity_request(p_request_id text, p_actor_id text default null) returns jsonb
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_found record := capacity.request_for(p_request_id, p_actor_id);
begin
  return capacity.nudge(v_found.request, v_found.actor);
end
$$;
comment on function public.nudge_capacity_request(text, text)
  is 'Nudges those whose decision a request waits for; returns whom, and when the next nudge is allowed.';
