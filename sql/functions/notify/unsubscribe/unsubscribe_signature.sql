-- What makes a link to stop mails ours: the HMAC over the notification's id, under the secret that signs the customers' links. The word in
-- front keeps a signature from being good for anything else.
create or replace function notify.unsubscribe_signature(p_secret_name text, p_id uuid) returns bytea
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
begin
  return headroom.hmac_sha256(headroom.signing_key(p_secret_name), convert_to('unsubscribe:', 'UTF8') || uuid_send(p_id));
end
$$;
comment on function notify.unsubscribe_signature(text, uuid) is 'The signature of a link that stops mails.';
