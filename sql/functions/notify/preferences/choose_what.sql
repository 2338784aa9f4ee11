-- Stores which notifications a member wants by which channel: {"reviews": {"email": "digest"}}. The default is not stored. Critical
-- notifications cannot be switched off or delayed.
create or replace function notify.choose_what(p_member directory.members, p_choices jsonb) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_each record;
  v_title text;
  v_critical boolean;
begin
  if exists (select from jsonb_each(p_choices) c where jsonb_typeof(c.value) <> 'object') then
    perform headroom.fail('invalid_input', 'Choices are an object for each category, by channel.', null,
                          'Such as {"reviews": {"email": "digest"}}. Nothing was changed.');
  end if;
  for v_each in
    select c.key as category, k.key as channel, k.value as choice, coalesce(n.waits, false) as waits
      from jsonb_each(p_choices) c cross join jsonb_each_text(c.value) k left join notify.channels n on n.channel = k.key
     order by 1, 2
  loop
    select c.title, c.critical into v_title, v_critical from notify.categories c
     where c.category = v_each.category and c.audience = 'member';
    if not found then
      perform headroom.fail('invalid_input', format('There is no category "%s".', left(v_each.category, 40)),
        'known are ' || (select string_agg(c.category, ', ') from notify.categories c where c.audience = 'member'),
        'Nothing was changed.');
    elsif v_each.channel not in (select c.channel from notify.channels c where c.chosen) then
      perform headroom.fail('invalid_input', format('There is no channel "%s" to choose.', left(v_each.channel, 40)),
                            'known are ' || (select string_agg(c.channel, ', ') from notify.channels c where c.chosen),
                            'Nothing was changed.');
    elsif coalesce(v_each.choice not in ('on', 'off', 'digest'), true) or v_each.choice = 'digest' and not v_each.waits then
      perform headroom.fail('invalid_input', format('"%s" is not a choice for %s.', left(v_each.choice, 40), v_each.channel),
                            case when v_each.waits then 'on, off or digest' else 'on or off' end, 'Nothing was changed.');
    elsif v_critical and v_each.choice <> 'on' then
      perform headroom.fail('not_allowed',
                            format('"%s" is always told at once: somebody loses money, time or a deadline without it.', v_title),
                            v_each.category, 'Everything else can be switched off. Nothing was changed.');
    elsif v_each.choice = 'on' then
      delete from notify.preferences p where p.workspace_id = p_member.workspace_id and p.whose = 'member:' || p_member.id
         and p.category = v_each.category and p.channel = v_each.channel;
    else
      insert into notify.preferences as p (workspace_id, whose, category, channel, choice)
      values (p_member.workspace_id, 'member:' || p_member.id, v_each.category, v_each.channel, v_each.choice)
      on conflict (workspace_id, whose, category, channel)
      do update set choice = excluded.choice, updated_at = clock_timestamp() where p.choice <> excluded.choice;
    end if;
  end loop;
end
$$;
comment on function notify.choose_what(directory.members, jsonb) is 'Stores which notifications a member wants by which channel.';
