-- Lets the rows of a stream use a guarded rail, for operators: anyone who may write that stream then acts with the installation's
-- credentials.
create or replace function outbox.grant_rail(p_stream text, p_rail text) returns void
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_rail outbox.rails;
begin
  perform outbox.check_stream_name(coalesce(p_stream, ''));
  select * into v_rail from outbox.rails r where r.name = p_rail;
  if not found then
    perform headroom.fail('unknown_rail', format('There is no rail "%s".', left(p_rail, 80)), null, 'Nothing was changed.');
  end if;
  insert into outbox.stream_rails (stream_id, rail_id) values (outbox.stream_id(p_stream), v_rail.rail_id)
  on conflict (stream_id, rail_id) do update set leftover = false, registered = false;
end
$$;
comment on function outbox.grant_rail(text, text) is 'Lets the rows of a stream use a guarded rail.';
