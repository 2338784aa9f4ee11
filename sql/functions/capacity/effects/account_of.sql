-- The account under which an actor's acts are counted (capacity.acts): a member's id when they act by their own sign-in; with the key
-- or login added when that acts for them. Everything said in Linear is one account. Null for acts of nobody in particular (rules,
-- timers, customers, jobs), which are not counted; their kinds have their own limits.
create or replace function capacity.account_of(p_actor capacity.actor) returns text
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
begin
  return case when p_actor.type = 'user' and p_actor.via in ('web', 'api', 'slack') then p_actor.id
              when p_actor.type = 'user' or p_actor.via = 'linear' then p_actor.id || ' ' || p_actor.via end;
end
$$;
comment on function capacity.account_of(capacity.actor) is 'The account of an actor''s acts. Nullable: p_actor, result.';
