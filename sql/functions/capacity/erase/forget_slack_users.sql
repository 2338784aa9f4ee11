-- Erases finished messages about requests that name the Slack user of a member who was removed: 200 requests of one workspace at a time,
-- in the order of their ids. Where one was still on its way, all are checked again a day later. Returns whether there is more to do
-- immediately.
create or replace function capacity.forget_slack_users() returns boolean
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_user capacity.removed_slack_users;
  v_ids text[];
  v_row record;
begin
  select * into v_user from capacity.removed_slack_users u where u.next_at <= now() order by u.next_at limit 1 for update skip locked;
  if not found then
    return false;
  elsif not exists (select from directory.members m
                     where m.workspace_id = v_user.workspace_id and m.slack_user_id = v_user.slack_user_id) then
    v_ids := array(select r.id from capacity.requests r
                    where r.workspace_id = v_user.workspace_id and r.id > v_user.forgotten_to order by r.id limit 200);
  end if;
  for v_row in
    select d.outbox_id
      from unnest(v_ids) i(id)
     cross join lateral (
           select format('%s#%s', e.request_id, e.seq) as instruction_id from capacity.events e where e.request_id = i.id
           union all
           select format('%s!%s', n.request_id, n.id) from capacity.notices n where n.request_id = i.id) n
      join outbox.rows d on d.stream_id = outbox.stream_id('capacity') and d.instruction_id = n.instruction_id
     where d.payload::text ~ format('\m%s\M', v_user.slack_user_id)
  loop
    v_user.left_over := not outbox.erase_finished(v_row.outbox_id, 'capacity', 'the member was removed') or v_user.left_over;
  end loop;
  if cardinality(v_ids) = 200 then
    update capacity.removed_slack_users u set forgotten_to = v_ids[200], left_over = v_user.left_over
     where u.workspace_id = v_user.workspace_id and u.slack_user_id = v_user.slack_user_id;
  elsif v_user.left_over then
    update capacity.removed_slack_users u set forgotten_to = '', left_over = false, next_at = now() + interval '1 day'
     where u.workspace_id = v_user.workspace_id and u.slack_user_id = v_user.slack_user_id;
  else
    delete from capacity.removed_slack_users u where u.workspace_id = v_user.workspace_id and u.slack_user_id = v_user.slack_user_id;
  end if;
  return true;
end
$$;
comment on function capacity.forget_slack_users() is 'Erases messages that name Slack users of removed members; whether there is more.';
