-- Adds a price: {size, region, duration_days, kind, currency, unit_amount, valid_from}. From that time on it replaces the previous price;
-- existing offers keep theirs. A price that already applies is not added again.
create or replace function billing.put_price(p_workspace_id text, p_price jsonb, p_actor text) returns billing.prices
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_new billing.prices;
  v_old billing.prices;
  v_wrong text;
begin
  perform headroom.check_actor(p_actor);
  -- One at a time for each workspace: of two identical prices the second finds the first.
  perform from directory.workspaces w where w.id = p_workspace_id for no key update;
  if not found then
    perform headroom.fail('not_found', format('There is no workspace "%s".', left(p_workspace_id, 64)), null,
                          'Create it first, or name another one.');
  end if;
  perform headroom.check_changes(p_price, '{size,region,duration_days,kind,currency,unit_amount,valid_from}');
  begin
    v_new := jsonb_populate_record(null::billing.prices, jsonb_build_object('currency', billing.currency_of(p_workspace_id)) || p_price);
  exception when data_exception then
    perform headroom.fail('invalid_input', 'A field of the price has a value of the wrong type.', sqlerrm, 'Nothing was changed.');
  end;
  v_wrong := billing.price_problem(v_new);
  if v_wrong is not null then
    perform headroom.fail('invalid_input', format('The %s of the price is not acceptable.', split_part(v_wrong, ':', 1)), v_wrong,
                          'Nothing was changed.');
  end if;
  select p.* into v_old
    from billing.prices p
   where p.workspace_id = p_workspace_id and upper(p.size collate "C") = upper(v_new.size collate "C")
     and p.currency = v_new.currency and p.withdrawn_at is null
     and p.region is not distinct from v_new.region and p.duration_days is not distinct from v_new.duration_days
   order by p.valid_from desc, p.created_at desc limit 1;
  if v_new.valid_from is null and v_old.valid_from <= clock_timestamp()
     and v_old.kind = v_new.kind and v_old.unit_amount = v_new.unit_amount then
    return v_old;
  end if;
  insert into billing.prices (workspace_id, size, region, duration_days, kind, currency, unit_amount, valid_from, created_by)
  values (p_workspace_id, v_new.size, v_new.region, v_new.duration_days, v_new.kind, v_new.currency, v_new.unit_amount,
          coalesce(v_new.valid_from, clock_timestamp()), p_actor)
  returning * into v_new;
  return v_new;
end
$$;
comment on function billing.put_price(text, jsonb, text) is 'Adds a price, which replaces the previous one from its time on.';
