-- Takes a turn until the end of the transaction, and waits if another transaction has it. A turn may be forgotten during that wait, and is
-- then made again.
create or replace function headroom.take_turn(p_name text) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
begin
  loop
    perform from headroom.turns t where t.name = p_name for update;
    exit when found;
    insert into headroom.turns (name) values (p_name) on conflict do nothing;
    exit when found;
  end loop;
end
$$;
comment on function headroom.take_turn(text) is 'Takes a turn until the end of the transaction, and waits for it.';
