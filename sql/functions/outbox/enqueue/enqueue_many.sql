-- Adds many rows in the caller's transaction, for applications: into streams that the caller's role may write.
create or replace function outbox.enqueue_many(p_rows jsonb)
returns table (ord integer, outbox_id uuid, seq bigint, created boolean)
language sql volatile security definer set search_path = pg_catalog, pg_temp
as $$
  select a.ord, a.outbox_id, a.seq, a.created from outbox.add_rows(true, p_rows) a;
$$;
comment on function outbox.enqueue_many(jsonb)
  is 'Adds an array of rows in the caller''s transaction; one result per element. Nullable: seq.';
