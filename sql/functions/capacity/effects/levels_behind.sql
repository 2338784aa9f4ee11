-- By how many levels messages come after those of others, by how many acts there were before within the hour (p_acts, see capacity.acts):
-- by none for the first ten, and by one more each time that number doubles, five at most. A queue takes by priority, so whoever caused few
-- of its messages passes those who caused many (ADR 17).
--
-- A member with their own sign-in is refused beyond what the workspace lets one member do in an hour (p_most; null: no limit). Service keys
-- and logins may name any member, so that a limit for each would not bind whoever holds them, and imports are theirs: they are counted for
-- each member, apart from what the member does, and not refused.
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
      format('You made %s changes within the hour that others are told of. This workspace allows no more.', p_most),
      format('again in %s seconds', greatest(1, coalesce(ceil(extract(epoch from v_again - clock_timestamp())), 1))),
      'Wait a little, or ask an operator to raise it: headroom policy settings --acts-per-hour. Nothing was changed.');
  end if;
  return case when p_acts < 10 then 0 when p_acts < 20 then 1 when p_acts < 40 then 2 when p_acts < 80 then 3 when p_acts < 160 then 4
              else 5 end;
end
$$;
comment on function capacity.levels_behind(text, capacity.actor, integer, integer)
  is 'How far behind others'' somebody''s messages come, or a refusal of too much. Nullable: p_most.';
