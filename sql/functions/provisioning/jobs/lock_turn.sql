-- Takes the turn of a customer. Every change of a customer's jobs holds it, so that two changes cannot both find the place free. It is
-- taken after the request and before lanes. A sweep holds several turns, so it must not wait (p_wait): two sweeps could wait for each
-- other. Returns whether it was taken.
create or replace function provisioning.lock_turn(p_workspace_id text, p_customer_key bytea, p_wait boolean default true) returns boolean
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_name text := format('provisioning.lock_turn:%s/%s', p_workspace_id, encode(p_customer_key, 'hex'));
begin
  if p_customer_key is null then
    return true;
  elsif p_wait then
    perform headroom.take_turn(v_name);
    return true;
  end if;
  return headroom.try_turn(v_name);
end
$$;
comment on function provisioning.lock_turn(text, bytea, boolean)
  is 'Locks the order of a customer''s jobs until the end of the transaction.';
