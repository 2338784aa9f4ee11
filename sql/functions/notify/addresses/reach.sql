-- Where a recipient is reached by a channel, or why not: they have no address there, or it is suppressed.
create or replace function notify.reach(
  p_to notify.recipient, p_channel text, out address text, out name text, out mark bytea, out problem text
)
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_found record := notify.address_of(p_to, p_channel);
begin
  address := v_found.address;
  name := v_found.name;
  problem := v_found.problem;
  if problem is null and p_channel = 'email' then
    mark := notify.address_mark(p_to.workspace_id, address);
    problem := case when notify.is_suppressed(p_to.workspace_id, mark) then 'suppressed' end;
  end if;
end
$$;
comment on function notify.reach(notify.recipient, text)
  is 'Where a recipient is reached, or why not. Nullable: address, name, mark, problem.';
