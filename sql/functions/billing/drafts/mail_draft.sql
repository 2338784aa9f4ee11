-- Sends the link to the last step, at most three times for one draft and three times an hour to one address, so that nobody can flood a
-- mailbox by naming it. The lock makes mails to one address count one after the other. Returns why it was not sent, in words, or null.
create or replace function billing.mail_draft(p_draft billing.drafts) returns text
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_most constant integer := 3;
  v_of_draft bigint;
  v_to_address bigint;
  v_row record;
begin
  perform pg_advisory_xact_lock(hashtextextended('billing.draft_mails:' || encode(p_draft.address_mark, 'hex'), 0));
  select count(*) into v_of_draft from billing.draft_mails m where m.draft_id = p_draft.id;
  select count(*) into v_to_address from billing.draft_mails m
   where m.workspace_id = p_draft.workspace_id and m.address_mark = p_draft.address_mark
     and m.asked_at > clock_timestamp() - interval '1 hour';
  if v_of_draft >= v_most then
    return 'The link of this order was sent three times, which is the limit. Look in your mailbox, also among unwanted mail.';
  elsif v_to_address >= v_most then
    return 'Three links were sent to this address within the hour. Look in your mailbox, also among unwanted mail, or try again later.';
  end if;
  insert into billing.draft_mails (draft_id, workspace_id, address_mark) values (p_draft.id, p_draft.workspace_id, p_draft.address_mark);
  v_row := outbox.add_row(
    false, p_draft.workspace_id, 'self-service', 'draft:' || p_draft.id, 'draft:' || p_draft.id, 'mail:' || v_of_draft + 1, 'email',
    billing.draft_letter(p_draft), p_expires_at => p_draft.expires_at, p_destination => 'email:' || p_draft.workspace_id);
  assert v_row.created, 'each mail has a row of its own';
  return null;
end
$$;
comment on function billing.mail_draft(billing.drafts) is 'Mails the link to the last step, or says why not. Nullable: result.';
