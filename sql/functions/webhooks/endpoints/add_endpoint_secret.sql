-- Gives an endpoint one more secret to sign with, generated here unless the caller passes one. From then on it signs first; older secrets
-- continue to sign for the window, so that receivers can change in their own time, and are forgotten afterwards. A receiver accepts any of
-- the signatures; a few are enough, and more would only make every request larger.
create or replace function webhooks.add_endpoint_secret(p_endpoint_id uuid, p_secret text, p_window interval) returns text
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_secret text := coalesce(p_secret, 'whsec_' || encode(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()), 'base64'));
begin
  if v_secret !~ '^whsec_(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$'
     or octet_length(decode(substr(v_secret, 7), 'base64')) not between 24 and 64 then
    perform headroom.fail('invalid_input', 'A signing secret is whsec_ and 24 to 64 bytes as base64.', null,
      'Leave it out, and one is made. Nothing was changed.');
  end if;
  update webhooks.endpoint_secrets s set expires_at = least(s.expires_at, now() + p_window)
   where s.endpoint_id = p_endpoint_id and s.kind = 'signing';
  perform webhooks.drop_endpoint_secrets(array_agg(s.secret_id)) from webhooks.endpoint_secrets s
    where s.endpoint_id = p_endpoint_id and s.expires_at <= now();
  if (select count(*) from webhooks.endpoint_secrets s where s.endpoint_id = p_endpoint_id and s.kind = 'signing') >= 4 then
    perform headroom.fail('conflict', 'This endpoint has four secrets that still sign.', null,
      'Wait until an old one has run out, or end the old ones now with a window of zero. Nothing was changed.');
  end if;
  perform webhooks.keep_endpoint_secret(p_endpoint_id, 'signing', v_secret);
  return v_secret;
end
$$;
comment on function webhooks.add_endpoint_secret(uuid, text, interval)
  is 'Adds a signing secret and lets the older ones run out; returns it, for the only time.';
