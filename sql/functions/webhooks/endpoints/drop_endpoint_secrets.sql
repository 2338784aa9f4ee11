-- Forgets secrets of endpoints and returns how many.
create or replace function webhooks.drop_endpoint_secrets(p_secret_ids uuid[]) returns integer
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_gone uuid[];
begin
  with gone as (
    delete from webhooks.endpoint_secrets s where s.secret_id = any (p_secret_ids) returning s.secret_id
  )
  select array_agg(g.secret_id) into v_gone from gone g;
  if v_gone is not null then
    perform headroom.drop_boxes(array(select webhooks.box_name(g.id) from unnest(v_gone) g(id)));
  end if;
  return coalesce(cardinality(v_gone), 0);
end
$$;
comment on function webhooks.drop_endpoint_secrets(uuid[]) is 'Forgets secrets of endpoints and returns how many.';
