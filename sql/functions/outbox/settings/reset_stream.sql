-- Gives settings of one of Headroom's own streams the values that this release registers, all of them where none is named. From then on
-- they follow the registration again.
create or replace function outbox.reset_stream(p_name text, p_settings text[] default null) returns outbox.streams
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_old outbox.streams;
begin
  perform outbox.check_stream_name(coalesce(p_name, ''));
  select * into v_old from outbox.streams s where s.name = p_name for no key update;
  return outbox.write_stream(v_old, outbox.registered_of('stream', p_name, p_settings));
end
$$;
comment on function outbox.reset_stream(text, text[]) is 'Gives settings of a stream the values that this release registers.';
