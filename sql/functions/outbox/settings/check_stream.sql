-- Checks what the table's own constraints cannot: a stream's writers are roles, and its keys are remembered as long as its archive is kept.
create or replace function outbox.check_stream(p_stream outbox.streams) returns void
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_class outbox.retention_classes;
begin
  if exists (select from unnest(p_stream.writers) w where not exists (select from pg_roles r where r.rolname = w)) then
    perform headroom.fail('invalid_input', format('The writers of stream "%s" are not roles of this server.', p_stream.name), null,
      'Name roles that exist, or leave writers out: then everybody who may call outbox.enqueue() may write it. Nothing was changed.');
  end if;
  if p_stream.dedupe_days > 36500 then
    perform headroom.fail('invalid_input', 'Idempotency keys are remembered for at most 36500 days, or forever.', null,
      'Give fewer days; or leave them out, which means forever. Nothing was changed.');
  end if;
  select * into v_class from outbox.retention_classes c where c.class_id = p_stream.class_id;
  if p_stream.dedupe_days < coalesce(v_class.retain_days, 2147483647) then
    perform headroom.fail('invalid_input', format('Idempotency keys must be remembered at least as long as the archive (%s).',
        coalesce(v_class.retain_days || ' days', 'forever')), null,
      'Give more days; or leave them out, which means forever; or choose a shorter retention class. Nothing was changed.');
  end if;
end
$$;
comment on function outbox.check_stream(outbox.streams)
  is 'Refuses a stream whose writers do not exist or whose keys are forgotten too soon.';
