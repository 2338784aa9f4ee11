-- Adds a note to a request, which decides nothing, for everybody who may read it.
create or replace function public.note_capacity_request(p_request_id text, p_body text, p_actor_id text default null) returns jsonb
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_found record := capacity.request_for(p_request_id, p_actor_id);
begin
  return capacity.note(v_found.request, v_found.actor, p_body);
end
$$;
comment on function public.note_capacity_request(text, text, text) is 'Adds a note to a request, for those who may read it.';
