-- Makes the gate of a destination that has none yet. If another session is making the same one, this returns without it: an insert would
-- wait for that transaction, and only a time limit would bound the wait.
create or replace function outbox.add_gate(p_name text) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp set lock_timeout = '1ms'
as $$
begin
  insert into outbox.gates (name) values (p_name) on conflict do nothing;
exception when lock_not_available then
  null;
end
$$;
comment on function outbox.add_gate(text) is 'Makes a gate, unless somebody else is making it.';
