-- Raises in whatever trigger calls it: recorded rows stay unchanged, for the owner too.
create or replace function capacity.refuse_change() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp
as $$
begin
  perform headroom.fail('append_only', format('%s on %s.%s is refused.', tg_op, tg_table_schema, tg_table_name),
    'the log of a request is append-only',
    'A decision is undone by a new event; personal data is erased with erase_customer().');
  return null;
end
$$;
comment on function capacity.refuse_change() is 'Trigger: refuses UPDATE, DELETE and TRUNCATE on the log.';
