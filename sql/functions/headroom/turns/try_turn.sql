-- Takes a turn until the end of the transaction if it is free, and returns whether it did.
create or replace function headroom.try_turn(p_name text) returns boolean
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
begin
  perform from headroom.turns t where t.name = p_name for update skip locked;
  return found or not exists (select from headroom.turns t where t.name = p_name) and headroom.make_turn(p_name);
end
$$;
comment on function headroom.try_turn(text) is 'Takes a turn until the end of the transaction, if it is free.';
