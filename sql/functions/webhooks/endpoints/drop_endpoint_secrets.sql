-- Forgets secrets of endpoints and returns how many.
create or replace function webhooks.drop_endpoint_secrets(p_secret_ids uuid[]) returns integer
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_gone uuid[];
  v_in_vault text[];
begin
  with gone as (
    delete from webhooks.endpoint_secrets s where s.secret_id = any (p_secret_ids) returning s.secret_id
  )
  select array_agg(g.secret_id) into v_gone from gone g;
  if v_gone is not null then
    v_in_vault := headroom.drop_boxes(array(select webhooks.box_name(g.id) from unnest(v_gone) g(id)));
    begin
      perform headroom.forget_in_vault(v_in_vault);
    exception when others then
      -- A Vault that may be read but not written stops neither a removal nor the collection of old secrets.
      null;
    end;
  end if;
  return coalesce(cardinality(v_gone), 0);
end
$$;
comment on function webhooks.drop_endpoint_secrets(uuid[]) is 'Forgets secrets of endpoints and returns how many.';
