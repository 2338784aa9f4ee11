-- One batch of the verification of requests, in the order of their ids: the log's chain (I2), the projection and what people wrote (I1),
-- and the side effects (I3). The next batch begins after last_id; the last one has last_id null, and covers ids past the last request,
-- where strays may be.
--
-- Stable, so that everything in one call is read from one snapshot: a busy system is judged fairly, and nothing is held
-- between two calls, so vacuum does not wait for the whole verification.
create or replace function capacity.verify_requests(
  p_after text default '', p_limit integer default 2000, p_workspace_id text default null,
  out last_id text, out requests bigint, out events bigint, out effects bigint, out findings jsonb
)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp
  set plan_cache_mode = force_custom_plan set enable_seqscan = off
as $$
declare
  v_to text;
  v_effect_findings jsonb;
begin
  if p_limit is null or p_limit not between 1 and 100000 then
    perform headroom.fail('invalid_input', 'A batch has 1 to 100000 requests.');
  end if;
  select count(*), max(q.id) into requests, v_to
    from (select r.id from capacity.requests r
           where r.id > coalesce(p_after, '') and (p_workspace_id is null or r.workspace_id = p_workspace_id)
           order by r.id limit p_limit) q;
  last_id := case when requests = p_limit then v_to end;
  if last_id is null then
    v_to := greatest(v_to, (select max(e.request_id) from capacity.events e), p_after, '');
  end if;

  select count(*) into events from capacity.events e
   where e.request_id > coalesce(p_after, '') and e.request_id <= v_to
     and (p_workspace_id is null or exists (select from capacity.requests r
                                             where r.id = e.request_id and r.workspace_id = p_workspace_id));
  select f.effects, f.findings into effects, v_effect_findings from capacity.verify_effects(coalesce(p_after, ''), v_to, p_workspace_id) f;
  select coalesce(jsonb_agg(to_jsonb(f) order by f.subject, f.invariant), '[]') || v_effect_findings into findings
    from (select * from capacity.verify_chain(coalesce(p_after, ''), v_to, p_workspace_id)
          union all
          select * from capacity.verify_projection(coalesce(p_after, ''), v_to, p_workspace_id)
          union all
          select * from capacity.verify_told(coalesce(p_after, ''), v_to, p_workspace_id)
          union all
          select * from capacity.verify_texts(coalesce(p_after, ''), v_to, p_workspace_id)) f;
end
$$;
comment on function capacity.verify_requests(text, integer, text)
  is 'Verifies a batch of requests: chain, projection, side effects. Nullable: last_id.';
