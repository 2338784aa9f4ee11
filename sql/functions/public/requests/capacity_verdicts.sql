-- What the caller can do to each of these requests now: for every action that exists on it whether they may, why not, by which rule, and
-- who can. Nothing is written and nothing locked. It is what the action itself checks when it is carried out, so a button, the preview of a
-- bulk action and the answer to it agree, as long as nothing changes in between (`version`).
--
-- A request that does not exist, or that the member may not see, gets one verdict without an action. `repeated`: it was done before, and
-- doing it again changes nothing.
create or replace function public.capacity_verdicts(
  p_request_ids text[], p_actions text[] default null, p_actor_id text default null
) returns table (
  request_id text, version integer, action text, target_id text, allowed boolean, repeated boolean, decided_by text, decided_at timestamptz,
  code text, reason text, detail text, hint text, rule text, others jsonb
)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_known constant text[] := (select array_agg(e.action) from capacity.event_actions() e)
    || '{nudge,note,send_link,retry,complete,fail,clean,refund,end_subscription}'::text[];
  v_given bigint := (select count(*) from unnest(p_request_ids) u);
  v_unknown text := (select coalesce(left(a, 60), 'null') from unnest(p_actions) a where (a = any (v_known)) is not true limit 1);
  v_id text;
  v_found record;
  v_context capacity.context;
  v_limit headroom.refusal;
  v_code text;
  v_reason text;
  v_hint text;
begin
  -- A key or a session that was revoked is told so, whatever it asks.
  perform directory.caller();
  if v_given not between 1 and 100 or exists (select from unnest(p_request_ids) u where u is null) then
    perform headroom.fail('invalid_input', 'Give the ids of 1 to 100 requests.', format('%s given', v_given));
  elsif v_unknown is not null then
    perform headroom.fail('invalid_input', format('There is no action "%s".', v_unknown), null,
                          'The actions are ' || array_to_string(v_known, ', ') || '.');
  elsif p_actions is not null then
    -- Each is compared with every action of every request.
    p_actions := array(select distinct a from unnest(p_actions) a);
  end if;
  for v_id in select u.id from unnest(p_request_ids) with ordinality u(id, n) group by u.id order by min(u.n) loop
    begin
      v_found := capacity.request_for(v_id, p_actor_id);
    exception when sqlstate 'PT404' or sqlstate 'PT403' then
      get stacked diagnostics v_reason = message_text, v_hint = pg_exception_hint, v_code = pg_exception_detail;
      return query values (left(v_id, 80), null::integer, null::text, null::text, false, false, null::text, null::timestamptz,
                           split_part(v_code, ':', 1), v_reason, left(v_id, 80), v_hint, null::text, '[]'::jsonb);
      continue;
    end;
    v_context := capacity.context_of(v_found.request, v_found.actor, null, null);
    v_limit := capacity.acts_refusal((v_found.request).workspace_id, v_found.actor, v_context.acts, v_context.acts_per_hour);
    return query
    select v_id, (v_found.request).version, v.action, v.target_id, v.allowed and (v.repeated or v_limit.code is null), v.repeated,
           v.decided_by, v.decided_at, r.code, r.reason, r.facts, r.hint, v.rule,
           (select coalesce(jsonb_agg(o.person order by o.n), '[]')
              from (select distinct on (p.person ->> 'id') p.person, p.n from jsonb_array_elements(v.others) with ordinality p(person, n)
                     where p.person ->> 'id' <> (v_found.actor).id order by p.person ->> 'id', p.n) o)
      from (select c.* from capacity.verdicts_of(v_found.request, v_found.actor, p_actions) c
            union all
            select j.* from provisioning.verdicts_of(v_found.request, v_found.actor, p_actions) j
            union all
            select b.* from billing.verdicts_of(v_found.request, v_found.actor, p_actions) b) v
     -- A member beyond their limit of this hour may only repeat.
     cross join lateral (select x.* from (select case when v.allowed and not v.repeated then v_limit else v.refusal end as refusal) c,
                         lateral (select (c.refusal).*) x) r;
  end loop;
end
$$;
comment on function public.capacity_verdicts(text[], text[], text)
  is 'What the caller can do to requests now, why not, by which rule, and who can. Nullable: action, target_id, version, decided_by, '
     'decided_at, code, reason, detail, hint, rule.';
