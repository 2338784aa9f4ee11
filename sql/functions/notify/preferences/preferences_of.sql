-- A member's preferences: when, by their own clock, and which notifications by which channel. It includes every choice, also those never
-- made. `reached` says where the member can be reached at all.
create or replace function notify.preferences_of(p_member directory.members) returns jsonb
language sql stable set search_path = pg_catalog, pg_temp
as $$
  select jsonb_build_object(
    'workspace_id', p_member.workspace_id, 'member_id', p_member.id, 'name', p_member.display_name,
    'time_zone', coalesce(w.time_zone, 'UTC'), 'quiet_from', to_char(w.quiet_from, 'HH24:MI'),
    'quiet_until', to_char(w.quiet_until, 'HH24:MI'), 'digest_at', to_char(coalesce(w.digest_at, '09:00'), 'HH24:MI'),
    'reached', (
      select jsonb_object_agg(k.channel, (notify.address_of(
               notify.recipient(p_member.workspace_id, 'member', p_member.id), k.channel)).problem is null)
        from notify.channels k where k.chosen),
    'categories', (
      select jsonb_agg(jsonb_build_object(
               'category', c.category, 'title', c.title, 'meaning', c.meaning, 'critical', c.critical,
               'choices', (select jsonb_object_agg(k.channel, coalesce(p.choice, 'on'))
                             from notify.channels k
                             left join notify.preferences p on p.workspace_id = p_member.workspace_id
                              and p.whose = 'member:' || p_member.id and p.category = c.category and p.channel = k.channel
                            where k.chosen)) order by c.place)
        from notify.categories c
       where c.audience = 'member'))
    from (select) one
    left join notify.people w on w.workspace_id = p_member.workspace_id and w.member_id = p_member.id;
$$;
comment on function notify.preferences_of(directory.members) is 'The preferences of a member.';
