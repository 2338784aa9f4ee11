-- The notification whose mail a token came with. The signature is checked before anything is looked up, in constant time; a malformed, a
-- forged and an unknown token get the same answer. While the secret is being replaced, links that the previous one signed are also valid,
-- because they are in mailboxes already.
create or replace function notify.find_unsubscribe(p_token text) returns notify.notifications
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_bytes bytea;
  v_id uuid;
  v_found notify.notifications;
  v_name text;
begin
  if length(p_token) = 64 and p_token ~ '^[A-Za-z0-9_-]{64}$' then
    v_bytes := decode(translate(p_token, '-_', '+/'), 'base64');
    v_id := encode(substr(v_bytes, 1, 16), 'hex')::uuid;
    foreach v_name in array array['CONFIRMATION_TOKEN_SECRET', 'CONFIRMATION_TOKEN_SECRET_PREVIOUS'] loop
      if headroom.equal_constant_time(substr(v_bytes, 17), notify.unsubscribe_signature(v_name, v_id)) then
        -- The address of an erased customer is no longer known. For a removed member nothing may be stored again, and what was told before
        -- a removal does not concern the person who has the id now.
        select n.* into v_found from notify.notifications n
         where n.id = v_id and not n.critical and (n.recipient_kind <> 'customer' or n.address is not null)
           and (n.recipient_kind <> 'member' or exists (
                  select from directory.members m where m.workspace_id = n.workspace_id and m.id = n.recipient and m.active
                     and (m.tokens_from is null or n.created_at > m.tokens_from)));
      end if;
    end loop;
  end if;
  if v_found.id is null then
    perform headroom.fail('not_found', 'This link is not valid.', null,
                          'Use the link in the latest mail exactly as it was sent. Nothing was changed.');
  end if;
  return v_found;
end
$$;
comment on function notify.find_unsubscribe(text) is 'The notification behind a link that stops mails, or a refusal.';
