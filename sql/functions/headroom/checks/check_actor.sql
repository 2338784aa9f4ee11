-- A change that is recorded with a name needs that name.
create or replace function headroom.check_actor(p_actor text) returns void
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
begin
  if p_actor is null or length(p_actor) not between 1 and 200 or p_actor ~ '[[:cntrl:]]' then
    perform headroom.fail('invalid_input', 'An actor of 1 to 200 characters is required.', null,
                          'Name who does this: a login or a person. Nothing was changed.');
  end if;
end
$$;
comment on function headroom.check_actor(text) is 'Refuses a change without an actor.';
