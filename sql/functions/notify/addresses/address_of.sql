-- Where a recipient is reached by a channel, or why not: no active member has that name, or no address is known. A person's own webhook at
-- Slack is identified by its owner, because its address is sealed. A group is reached only in its channel. A channel that is not named here
-- needs no address: the inbox, and what goes to endpoints.
create or replace function notify.address_of(p_to notify.recipient, p_channel text, out address text, out name text, out problem text)
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_member directory.members;
begin
  if p_to.kind = 'member' then
    select m.* into v_member from directory.members m where m.workspace_id = p_to.workspace_id and m.id = p_to.id and m.active;
    if not found then
      problem := 'nobody';
      return;
    end if;
    name := v_member.display_name;
    address := case p_channel when 'email' then v_member.email else p_to.id end;
    if p_channel = 'slack' then
      address := case when exists (select from notify.people w where w.workspace_id = p_to.workspace_id and w.member_id = p_to.id
                                      and w.slack_webhook)
                      then format('webhook:%s/%s', p_to.workspace_id, p_to.id) else v_member.slack_user_id end;
    end if;
  elsif p_to.kind = 'group' then
    select g.name, case p_channel when 'slack' then g.slack_channel_id end into name, address
      from directory.groups g where g.workspace_id = p_to.workspace_id and g.id = p_to.id;
    problem := case when not found then 'nobody' end;
  elsif p_channel = 'email' then
    address := p_to.address;
  end if;
  problem := coalesce(problem, case when address is null then 'no_address' end);
end
$$;
comment on function notify.address_of(notify.recipient, text) is 'Where a recipient is reached. Nullable: address, name, problem.';
