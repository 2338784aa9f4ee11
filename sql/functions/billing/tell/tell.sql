-- Posts a notice about a request's money where the request is followed. The caller has locked the request. p_asks: it waits for people, who
-- are named.
create or replace function billing.tell(
  p_request_id text, p_said text, p_asks boolean default false, p_quoted text default null, p_kind text default 'payment'
) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_request capacity.requests;
begin
  select r.* into strict v_request from capacity.requests r where r.id = p_request_id;
  perform capacity.post_notice(
    v_request, p_kind, null, null, row('system', 'billing', 'system')::capacity.actor, p_quoted,
    p_called => case when p_asks then provisioning.people_asked(v_request) else '{}' end, p_said => p_said);
end
$$;
comment on function billing.tell(text, text, boolean, text, text) is 'Posts a notice about a request''s money. Nullable: p_quoted.';
