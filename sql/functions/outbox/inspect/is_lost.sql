-- Whether a row was given up or skipped, so that nobody will get it unless an operator acts. For streams that are kept for ever, as in
-- outbox.last_delivered_at().
create or replace function outbox.is_lost(p_outbox_id uuid) returns boolean
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
begin
  return exists (select from outbox.dead x where x.outbox_id = p_outbox_id)
      or (select a.state from outbox.attempts a where a.outbox_id = p_outbox_id and a.class_id = 1
           order by a.attempt_no desc limit 1) = 'SKIPPED' is true;
end
$$;
comment on function outbox.is_lost(uuid) is 'Whether a row was given up or skipped.';
