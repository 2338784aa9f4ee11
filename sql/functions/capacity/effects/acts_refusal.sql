-- Why an actor may not notify others any more within this hour, or null, given their number of acts (p_acts, see capacity.acts) and the
-- workspace's limit per member (p_max; null: none).
--
-- Only members with their own sign-in have that limit. Service keys and logins may name any member, so a limit per member would not bind
-- their holders, and imports run through them: they are counted for each member, separately from the member's own acts, and not refused.
create or replace function capacity.acts_refusal(p_workspace_id text, p_actor capacity.actor, p_acts integer, p_max integer)
returns headroom.refusal
language plpgsql stable set search_path = pg_catalog, pg_temp set enable_seqscan = off
as $$
declare
  v_again timestamptz;
begin
  if p_acts >= p_max and capacity.account_of(p_actor) = p_actor.id then
    select a.at + interval '1 hour' into v_again from capacity.acts a
     where a.workspace_id = p_workspace_id and a.account = p_actor.id and a.at > clock_timestamp() - interval '1 hour'
     order by a.at desc offset p_max - 1 limit 1;
    return row('too_soon',
      format('You made %s changes within an hour that notify others. This workspace allows no more.', p_max),
      format('again in %s seconds', greatest(1, coalesce(ceil(extract(epoch from v_again - clock_timestamp())), 1))),
      'Wait a little, or ask an operator to raise it: headroom policy settings --acts-per-hour. Nothing was changed.')::headroom.refusal;
  end if;
  return null;
end
$$;
comment on function capacity.acts_refusal(text, capacity.actor, integer, integer)
  is 'Why an actor may not act any more within this hour. Nullable: p_max, result.';
