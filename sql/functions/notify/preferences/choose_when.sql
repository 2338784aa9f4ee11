-- Stores when a member wants notifications. What is not named stays; null ends quiet hours, and resets time zone and digest to the
-- defaults. Held parts were timed by the old settings, so their time is computed again; what is being sent at the moment still goes.
create or replace function notify.choose_when(p_member directory.members, p_changes jsonb) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_person notify.people;
  v_zone text := notify.time_zone_named(p_changes ->> 'time_zone');
begin
  insert into notify.people (workspace_id, member_id) values (p_member.workspace_id, p_member.id) on conflict do nothing;
  select p.* into strict v_person from notify.people p
   where p.workspace_id = p_member.workspace_id and p.member_id = p_member.id for update;
  if p_changes ->> 'time_zone' is not null and v_zone is null then
    perform headroom.fail('invalid_input', 'There is no time zone of that name.', left(p_changes ->> 'time_zone', 80),
                          'Give a name such as Europe/Berlin or America/New_York. Nothing was changed.');
  end if;
  if p_changes ? 'time_zone' then
    v_person.time_zone := coalesce(v_zone, 'UTC');
  end if;
  if p_changes ? 'quiet_from' then
    v_person.quiet_from := notify.time_of_day('quiet_from', p_changes ->> 'quiet_from');
  end if;
  if p_changes ? 'quiet_until' then
    v_person.quiet_until := notify.time_of_day('quiet_until', p_changes ->> 'quiet_until');
  end if;
  if p_changes ? 'digest_at' then
    v_person.digest_at := coalesce(notify.time_of_day('digest_at', p_changes ->> 'digest_at'), '09:00');
  end if;
  if (v_person.quiet_from is null) <> (v_person.quiet_until is null) then
    perform headroom.fail('invalid_input', 'Quiet hours need a beginning and an end.', null,
                          'Give both, such as 22:00 and 07:00, or neither. Nothing was changed.');
  elsif v_person.quiet_from = v_person.quiet_until then
    perform headroom.fail('invalid_input', 'Quiet hours cannot begin and end at the same time.', null,
                          'To hear nothing by a channel, switch it off. Nothing was changed.');
  end if;
  update notify.people p
     set time_zone = v_person.time_zone, quiet_from = v_person.quiet_from, quiet_until = v_person.quiet_until,
         digest_at = v_person.digest_at, updated_at = clock_timestamp()
   where p.workspace_id = p_member.workspace_id and p.member_id = p_member.id;
  update notify.parts p
     set due_at = notify.due_at(v_person, case when p.merge_key = 'digest' then 'digest' else 'on' end, clock_timestamp(), p.expires_at)
    from (select h.notification_id, h.channel from notify.parts h
           where h.state = 'held' and h.workspace_id = p_member.workspace_id and h.recipient_kind = 'member' and h.recipient = p_member.id
             for update skip locked) h
   where p.notification_id = h.notification_id and p.channel = h.channel;
end
$$;
comment on function notify.choose_when(directory.members, jsonb) is 'Stores when a member wants notifications.';
