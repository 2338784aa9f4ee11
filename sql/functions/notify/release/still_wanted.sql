-- Which of these things a person still wants by a channel now: they may have changed their choice since it was held, and it may be released
-- late, in the night. Things that they no longer want are dropped; a thing that comes in quiet hours waits for their end, or for its own
-- expiry if that is earlier, and is not sent then. Critical ones pass. The caller holds their parts.
create or replace function notify.still_wanted(p_told notify.notifications[], p_channel text) returns notify.notifications[]
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_first notify.notifications := p_told[1];
  v_now timestamptz := clock_timestamp();
  v_off text[] := array(select f.category from notify.preferences f where f.workspace_id = v_first.workspace_id
                           and f.whose = notify.whose(v_first) and f.channel = p_channel and f.choice = 'off');
  v_person notify.people;
  v_until timestamptz;
begin
  if v_first.recipient_kind = 'member' then
    select w.* into v_person from notify.people w where w.workspace_id = v_first.workspace_id and w.member_id = v_first.recipient;
  end if;
  v_until := notify.after_quiet(v_person, v_now);
  if v_off = '{}' and v_until = v_now then
    return p_told;
  end if;
  update notify.parts p set state = 'dropped', reason = 'preference'
   where p.notification_id = any (array(select n.id from unnest(p_told) n where not n.critical and n.category = any (v_off)))
     and p.channel = p_channel;
  update notify.parts p set due_at = least(v_until, p.expires_at)
   where p.notification_id = any (array(select n.id from unnest(p_told) n
                                         where not n.critical and n.category <> all (v_off) and v_until > v_now and n.expires_at > v_now))
     and p.channel = p_channel;
  return array(select n from unnest(p_told) n
                where n.critical or n.category <> all (v_off) and (v_until = v_now or n.expires_at <= v_now)
                order by n.priority desc, n.created_at, n.id);
end
$$;
comment on function notify.still_wanted(notify.notifications[], text) is 'Which things a person still wants by a channel now.';
