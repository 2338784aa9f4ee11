-- Makes a turn that nobody has had yet, and so takes it; says whether it did. Whoever is making the same one has it: an insert would wait
-- for their transaction, and nothing but a time limit keeps it from that.
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
comment on function headroom.make_turn(text) is 'Makes a turn and takes it, unless somebody else does.';
