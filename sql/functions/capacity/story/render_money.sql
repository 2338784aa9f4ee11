-- Dollars for people. A value that is not a number, or is too large for a price, is shown unchanged.
create or replace function capacity.render_money(p_amount jsonb) returns text
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
begin
  if jsonb_typeof(p_amount) <> 'number' or abs(p_amount::numeric) >= 1e15 then
    return notify.render_text(p_amount #>> '{}', 50);
  end if;
  return 'USD ' || to_char(p_amount::numeric, 'FM999,999,999,999,990.00');
end
$$;
comment on function capacity.render_money(jsonb) is 'An amount of dollars in words. Nullable: result.';
