-- The draft of a token of the wizard. `kind` is draft for the visitor who fills it in, or proof for the recipient of the mail at the
-- draft's current address. A draft that has not begun, or has expired, has a token and no row. A malformed, a forged and a replaced token
-- get the same answer. Once somebody has continued by the link, the first visitor's token stops working: that visitor may have named
-- another person's address.
create or replace function billing.find_draft(p_workspace_id text, p_token text, out kind text, out id uuid, out draft billing.drafts)
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_bytes bytea;
  v_secret text;
begin
  if length(p_token) = 64 and p_token ~ '^[A-Za-z0-9_-]{64}$' then
    v_bytes := decode(translate(p_token, '-_', '+/'), 'base64');
    id := encode(substr(v_bytes, 1, 16), 'hex')::uuid;
    select d.* into draft from billing.drafts d
     where d.id = find_draft.id and d.workspace_id = p_workspace_id and d.expires_at > clock_timestamp();
    foreach v_secret in array '{CONFIRMATION_TOKEN_SECRET,CONFIRMATION_TOKEN_SECRET_PREVIOUS}'::text[] loop
      kind := case
        when headroom.equal_constant_time(substr(v_bytes, 17),
               billing.draft_signature(v_secret, 'draft', p_workspace_id, id, draft.generation, null)) then 'draft'
        when draft.address_mark is not null and headroom.equal_constant_time(substr(v_bytes, 17),
               billing.draft_signature(v_secret, 'proof', p_workspace_id, id, draft.generation, draft.address_mark)) then 'proof' end;
      exit when kind is not null;
    end loop;
  end if;
  if kind is null then
    perform headroom.fail('not_found', 'This link is not valid, or no longer.', null,
      'Use the link in the latest mail exactly as it was sent. Orders that were not sent are kept for a day: after that, start again.');
  elsif kind = 'draft' and draft.proven_at is not null then
    perform headroom.fail('not_allowed', 'This order continues with the link in its mail.', null,
                          'Open that link, or begin another order. Nothing was changed.');
  end if;
end
$$;
comment on function billing.find_draft(text, text) is 'The draft behind a token of the wizard, or a refusal. Nullable: draft.';
