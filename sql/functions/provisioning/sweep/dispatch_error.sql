-- Why a dispatch was given up, as the archive has it.
create or replace function provisioning.dispatch_error(p_outbox_id uuid) returns text
language sql stable set search_path = pg_catalog, pg_temp
as $$
  select coalesce((select left(concat_ws(': ', l.error_code, l.error_message), 1000) from outbox.lines l
                    where l.outbox_id = p_outbox_id and l.error_code is not null order by l.attempt_no desc limit 1),
                  'The dispatch was given up.');
$$;
comment on function provisioning.dispatch_error(uuid) is 'Why a dispatch was given up, in words.';
