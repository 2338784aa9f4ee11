-- Adds many rows in the caller's transaction, for applications: into streams that say that the caller's role may write them.
create or replace function outbox.enqueue_many(p_rows jsonb)
returns table (ord integer, outbox_id uuid, seq bigint, created boolean)
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_role text := coalesce(nullif(nullif(current_setting('role', true), ''), 'none'), session_user);
begin
  return query
  select a.ord, a.outbox_id, a.seq, a.created
    from outbox.add_rows(v_role, p_rows) a;
end
$$;
comment on function outbox.enqueue_many(jsonb) is 'Adds an array of rows in the caller''s transaction; one result per element. Nullable: seq.';
