-- By how many priority levels an actor's messages come after those of others, given their number of acts in the last hour (p_acts, see
-- capacity.acts): none for the first ten, and one more each time that number doubles, up to five. A queue takes rows by priority, so actors
-- who caused few of its messages pass those who caused many (ADR 17).
--
-- A member with their own sign-in is refused beyond the workspace's limit per member and hour (p_most; null: no limit). Service keys
-- and logins may name any member, so a limit per member would not bind their holders, and imports run through them: they are counted for
-- each member, separately from the member's own acts, and not refused.
create or replace function capacity.levels_behind(p_workspace_id text, p_actor capacity.actor, p_acts integer, p_most integer)
returns integer
language plpgsql volatile set search_path = pg_catalog, pg_temp set enable_seqscan = off
as $$
declare
  v_again timestamptz;
begin
  if p_acts >= p_most and capacity.account_of(p_actor) = p_actor.id then
    select a.at + interval '1 hour' into v_again from capacity.acts a
     where a.workspace_id = p_workspace_id and a.account = p_actor.id and a.at > clock_timestamp() - interval '1 hour'
     order by a.at desc offset p_most - 1 limit 1;
    perform headroom.fail('too_soon',
      format('You made %s changes within an hour that notify others. This workspace allows no more.', p_most),
      format('again in %s seconds', greatest(1, coalesce(ceil(extract(epoch from v_again - clock_timestamp())), 1))),
      'Wait a little, or ask an operator to raise it: headroom policy settings --acts-per-hour. Nothing was changed.');
  end if;
  return case when p_acts < 10 then 0 when p_acts < 20 then 1 when p_acts < 40 then 2 when p_acts < 80 then 3 when p_acts < 160 then 4
              else 5 end;
end
$$;
comment on function capacity.levels_behind(text, capacity.actor, integer, integer)
  is 'How many levels an actor''s messages come after others'', or a refusal. Nullable: p_most.';
