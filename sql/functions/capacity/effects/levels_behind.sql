-- By how many priority levels an actor's messages come after those of others, given their number of acts in the last hour (p_acts, see
-- capacity.acts): none for the first ten, and one more each time that number doubles, up to five. A queue takes rows by priority, so actors
-- who caused few of its messages pass those who caused many (ADR 17). Beyond the workspace's limit it is refused (acts_refusal).
create or replace function capacity.levels_behind(p_workspace_id text, p_actor capacity.actor, p_acts integer, p_most integer)
returns integer
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
begin
  if p_acts >= p_most then
    perform headroom.refuse(capacity.acts_refusal(p_workspace_id, p_actor, p_acts, p_most));
  end if;
  return case when p_acts < 10 then 0 when p_acts < 20 then 1 when p_acts < 40 then 2 when p_acts < 80 then 3 when p_acts < 160 then 4
              else 5 end;
end
$$;
comment on function capacity.levels_behind(text, capacity.actor, integer, integer)
  is 'How many levels an actor''s messages come after others'', or a refusal. Nullable: p_most.';
