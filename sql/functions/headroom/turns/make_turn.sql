-- Makes a turn that does not exist yet, and so takes it; returns whether it did. If another transaction is making the same one, that one
-- has it: an insert would wait for it, and only a time limit would bound the wait.
create or replace function headroom.make_turn(p_name text) returns boolean
language plpgsql volatile set search_path = pg_catalog, pg_temp set lock_timeout = '1ms'
as $$
begin
  insert into headroom.turns (name) values (p_name) on conflict do nothing;
  return found;
exception when lock_not_available then
  return false;
end
$$;
comment on function headroom.make_turn(text) is 'Makes a turn and takes it, unless another transaction does.';
