-- What the table's own checks cannot see of a stream: its writers are roles, and its keys are remembered as long as its archive is kept.
create or replace function outbox.check_stream(p_stream outbox.streams) returns void
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_class outbox.retention_classes;
begin
  if exists (select from unnest(p_stream.writers) w where not exists (select from pg_roles r where r.rolname = w)) then
    raise exception 'the writers of stream "%" are not roles of this server', p_stream.name using errcode = 'HR003',
      hint = 'Name roles that exist, or leave writers out: then whoever may call outbox.enqueue() may write it.';
  end if;
  select * into v_class from outbox.retention_classes c where c.class_id = p_stream.class_id;
  if p_stream.dedupe_days < coalesce(v_class.retain_days, 2147483647) then
    raise exception 'idempotency keys must be remembered at least as long as the archive (%)', coalesce(v_class.retain_days || ' days', 'for ever')
      using errcode = 'HR003', hint = 'Give more days or none at all, which means for ever; or a retention class that keeps less.';
  end if;
end
$$;
comment on function outbox.check_stream(outbox.streams) is 'Raises for a stream whose writers or memory cannot be.';
