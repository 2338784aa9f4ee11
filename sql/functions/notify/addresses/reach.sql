-- Where somebody is reached by a channel, or why they are not: nobody of that name is active, no address is known, or nothing goes there
-- any more. A person's own webhook at Slack is named by whose it is: its address is sealed. A group is reached in its channel alone.
create or replace function notify.reach(
  p_workspace_id text, p_recipient_kind text, p_recipient text, p_address text, p_channel text,
  out address text, out name text, out mark bytea, out problem text
)
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_member directory.members;
begin
  if p_recipient_kind = 'member' then
    select m.* into v_member from directory.members m where m.workspace_id = p_workspace_id and m.id = p_recipient and m.active;
    if not found then
      problem := 'nobody';
      return;
    end if;
    name := v_member.display_name;
    address := case p_channel when 'email' then v_member.email else p_recipient end;
    if p_channel = 'slack' then
      address := case when exists (select from notify.people w where w.workspace_id = p_workspace_id and w.member_id = p_recipient
                                      and w.slack_webhook)
                      then format('webhook:%s/%s', p_workspace_id, p_recipient) else v_member.slack_user_id end;
    end if;
  elsif p_recipient_kind = 'group' then
    select g.name, case p_channel when 'slack' then g.slack_channel_id end into name, address
      from directory.groups g where g.workspace_id = p_workspace_id and g.id = p_recipient;
    problem := case when not found then 'nobody' end;
  elsif p_channel = 'email' then
    address := p_address;
  end if;
  if address is null then
    problem := coalesce(problem, 'no_address');
  elsif p_channel = 'email' then
    mark := notify.address_mark(p_workspace_id, address);
    problem := case when notify.is_suppressed(p_workspace_id, mark) then 'suppressed' end;
  end if;
end
$$;
comment on function notify.reach(text, text, text, text, text)
  is 'Where somebody is reached, or why not. Nullable: p_address, address, name, mark, problem.';
