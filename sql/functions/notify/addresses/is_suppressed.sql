-- Whether nothing goes to an address any more.
create or replace function notify.is_suppressed(p_workspace_id text, p_mark bytea) returns boolean
language sql stable set search_path = pg_catalog, pg_temp
as $$
  select exists (select from notify.suppressions s
                  where s.workspace_id = p_workspace_id and s.address_mark = p_mark and s.lifted_at is null);
$$;
comment on function notify.is_suppressed(text, bytea) is 'Whether an address is suppressed. Nullable: p_mark.';
