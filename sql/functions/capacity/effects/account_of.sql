-- Under which account it is counted what an actor does that others are told of (capacity.acts): a member's id, where they act by their own
-- sign-in; with the key or login behind it, where that acts for them. What is said in Linear is one account. Null: nobody does it (rules,
-- timers, customers, jobs), which is not counted; its kinds have bounds of their own.
create or replace function capacity.account_of(p_actor capacity.actor) returns text
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
begin
  return case when p_actor.type = 'user' and p_actor.via in ('web', 'api', 'slack') then p_actor.id
              when p_actor.type = 'user' or p_actor.via = 'linear' then p_actor.id || ' ' || p_actor.via end;
end
$$;
comment on function capacity.account_of(capacity.actor) is 'By what an actor''s acts are counted. Nullable: p_actor, result.';
