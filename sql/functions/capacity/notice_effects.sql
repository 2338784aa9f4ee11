-- Which side effects a notice has. What came in through a surface is not sent back to it; and where no thread can be pinged, a nudge
-- goes by mail to those whom it is meant for.
create or replace function capacity.notice_effects(p_request capacity.requests, p_kind text, p_via text, p_asked text[]) returns text[]
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_effects text[] := '{}';
  v_workspace capacity.workspaces;
begin
  select w.* into v_workspace from capacity.workspaces w where w.id = p_request.workspace_id;
  if p_request.slack_channel_id is not null then
    if p_kind <> 'note' or p_via <> 'slack' then
      v_effects := v_effects || 'slack:reply'::text;
    end if;
  elsif p_kind = 'nudge' then
    v_effects := array(select 'email:member:' || m.id from capacity.members m
                        where m.workspace_id = v_workspace.id and m.id = any (p_asked) and m.email is not null order by m.id limit 20);
  end if;
  if p_kind = 'note' and p_via <> 'linear' and v_workspace.linear_team_id is not null
     and exists (select from capacity.events e where e.request_id = p_request.id and e.seq = 1 and 'linear:issue' = any (e.effects)) then
    v_effects := v_effects || 'linear:comment'::text;
  end if;
  if p_kind = 'warning' and v_workspace.public_url is not null and capacity.email_of_customer(p_request.id) is not null then
    v_effects := v_effects || 'email:warning'::text;
  end if;
  return v_effects;
end
$$;
comment on function capacity.notice_effects(capacity.requests, text, text, text[]) is 'The names of a notice''s side effects.';
