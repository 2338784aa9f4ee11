-- Which review of a request a member may give: null when they may give both. A member who may give neither gets the refusal of
-- the commercial one, or of the technical one if the commercial one is decided.
create or replace function inbound.review_step(p_member directory.members, p_request_id text) returns text
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_actor capacity.actor := row('user', p_member.id, 'slack')::capacity.actor;
  v_known record := inbound.readable(p_member, p_request_id);
  v_request capacity.requests := v_known.request;
  v_commercial boolean := (capacity.authorize(v_actor, v_known.standing, v_request, 'COMMERCIAL_APPROVED', clock_timestamp())).allowed;
  v_technical boolean := (capacity.authorize(v_actor, v_known.standing, v_request, 'TECH_REVIEW_APPROVED', clock_timestamp())).allowed;
begin
  if v_commercial and v_technical then
    -- If one of them is given, the other is meant.
    return case when v_request.commercial_approved_at is not null and v_request.technical_approved_at is null then 'tech'
                when v_request.technical_approved_at is not null and v_request.commercial_approved_at is null then 'commercial' end;
  end if;
  return case when v_technical or not v_commercial and v_request.commercial_approved_at is not null then 'tech' else 'commercial' end;
end
$$;
comment on function inbound.review_step(directory.members, text)
  is 'The review that a member means when they name none. Nullable: result.';
