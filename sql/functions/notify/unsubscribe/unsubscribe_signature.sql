-- Proves that a link to stop mails is ours: the HMAC over the notification's id, under the secret that signs the customers' links. The
-- prefix keeps a signature from being valid for anything else. Null if the secret is a previous one and there is none.
create or replace function notify.unsubscribe_signature(p_secret_name text, p_id uuid) returns bytea
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
begin
  return headroom.hmac_sha256(
    headroom.link_key(p_secret_name, 'Links cannot be answered here at the moment.', 'Try again later.'),
    convert_to('unsubscribe:', 'UTF8') || uuid_send(p_id));
end
$$;
comment on function notify.unsubscribe_signature(text, uuid) is 'The signature of a link that stops mails. Nullable: result.';
