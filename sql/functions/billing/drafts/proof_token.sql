-- The token in the mail of a draft, which proves the address that the mail goes to: another address gets another token. It is made while
-- the mail is being sent, and is stored in no table, payload, log or archive. A mail gets none if the draft's address changed while the
-- mail waited: its reader would prove an address that is not theirs.
create or replace function billing.proof_token(p_draft_id uuid, p_address text) returns text
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_draft billing.drafts;
begin
  select d.* into v_draft from billing.drafts d
   where d.id = p_draft_id and d.expires_at > clock_timestamp()
     and d.address_mark = (capacity.marks_of(d.workspace_id, null, p_address)).by_address;
  if not found then
    perform headroom.fail('not_found', 'There is no such draft with this address.');
  end if;
  return translate(encode(uuid_send(v_draft.id) || billing.draft_signature(
    'CONFIRMATION_TOKEN_SECRET', 'proof', v_draft.workspace_id, v_draft.id, v_draft.generation,
    v_draft.address_mark), 'base64'), '+/', '-_');
end
$$;
comment on function billing.proof_token(uuid, text) is 'The token of the link in a draft''s mail, computed at the moment of sending.';
