-- The receipt of a form, with the channel where the form was opened, since a submission carries none. Without a channel the
-- receipt is unchanged, and its sender is answered directly.
create or replace function inbound.form_channel(p_receipt jsonb) returns jsonb
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
declare
  v_channel text := inbound.form_metadata(p_receipt) ->> 'channel';
begin
  return p_receipt || case when v_channel ~ '^[A-Z0-9]{2,32}$' then jsonb_build_object('channel', v_channel) else '{}' end;
end
$$;
comment on function inbound.form_channel(jsonb) is 'The receipt of a form with the channel where the form was opened.';
