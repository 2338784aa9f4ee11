-- The message that tells a person one or several things, for a channel. It contains titles and bodies as they were stored, escaped for the
-- surface.
create or replace function notify.message(p_told notify.notifications[], p_channel text, p_address text, p_name text) returns jsonb
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
begin
  return case p_channel
    when 'email' then notify.message_by_email(p_told, p_address, p_name)
    when 'slack' then notify.message_in_slack(p_told, p_address)
    when 'webhook' then notify.message_to_endpoint(p_told[1])
  end;
end
$$;
comment on function notify.message(notify.notifications[], text, text, text) is 'The payload of a message. Nullable: p_name, result.';
