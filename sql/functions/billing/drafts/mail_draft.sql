-- Sends the link to the last step, at most three times for one draft and three times an hour to one mailbox, so that nobody can flood a
-- mailbox by naming it: text after a plus sign makes another address but not another mailbox. Each spender gets ten an hour, not counting
-- links that were used. Of the three, only mails whose link still leads to the order count: otherwise the rest would close the mailbox to
-- its owner, who could use none of them. A mailbox gets at most twenty an hour.
--
-- The turn serialises the mails to one mailbox; it is a row, so it is taken only once the spender has room. Each mail has a number that was
-- never used before, because a draft may be begun again when its day has ended and its mails are forgotten. An address whose mails bounce
-- gets none, and the visitor is not told, since the address need not be theirs. Returns why the mail was not sent, in words, or null.
create or replace function billing.mail_draft(p_draft billing.drafts) returns text
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_max constant integer := 3;
  v_max_of_spender constant integer := 10;
  v_spender bytea := billing.spender(p_draft.workspace_id, p_draft.id);
  v_mailbox bytea := (capacity.marks_of(p_draft.workspace_id, null,
                                        regexp_replace(lower((p_draft.terms ->> 'email') collate "C"), '\+[^@]*@', '@'))).by_address;
  v_of_draft bigint;
  v_of_spender bigint;
  v_max_to_mailbox constant integer := 20;
  v_to_address record;
  v_mail_id bigint;
  v_row record;
begin
  select count(*) into v_of_spender from billing.draft_mails m
   where m.workspace_id = p_draft.workspace_id and m.spender = v_spender and not m.proven
     and m.asked_at > clock_timestamp() - interval '1 hour';
  if v_of_spender >= v_max_of_spender then
    return 'Ten links were asked for within the hour that nobody has used yet. Use one that came, or try again later.';
  end if;
  perform headroom.take_turn('billing.mail_draft:' || encode(v_mailbox, 'hex'));
  select count(*) into v_of_draft from billing.draft_mails m where m.draft_id = p_draft.id;
  select count(*) as mails,
         count(*) filter (where not exists (select from billing.draft_mails n where n.draft_id = m.draft_id and n.id > m.id)) as links
    into v_to_address from billing.draft_mails m
   where m.workspace_id = p_draft.workspace_id and m.address_mark = v_mailbox and not m.proven
     and m.asked_at > clock_timestamp() - interval '1 hour';
  if v_of_draft >= v_max then
    return 'The link of this order was sent three times, which is the limit. Look in your mailbox, also among unwanted mail.';
  elsif v_to_address.mails >= v_max_to_mailbox then
    return 'Too many links were sent to this address within the hour. Try again later.';
  elsif v_to_address.links >= v_max then
    return 'Three links were sent to this address within the hour. Look in your mailbox, also among unwanted mail: '
           'each opens an order that you can change and send. Or try again later.';
  end if;
  insert into billing.draft_mails (draft_id, workspace_id, address_mark, spender)
  values (p_draft.id, p_draft.workspace_id, v_mailbox, v_spender)
  returning id into v_mail_id;
  if notify.is_suppressed(p_draft.workspace_id, notify.address_mark(p_draft.workspace_id, p_draft.terms ->> 'email')) then
    return null;
  end if;
  v_row := outbox.add_row(
    false, p_draft.workspace_id, 'self-service', 'draft:' || p_draft.id, 'draft:' || p_draft.id, 'mail:' || v_mail_id, 'email',
    billing.draft_letter(p_draft), p_expires_at => p_draft.expires_at, p_destination => 'email:' || p_draft.workspace_id);
  assert v_row.created, 'each mail has its own row';
  return null;
end
$$;
comment on function billing.mail_draft(billing.drafts) is 'Mails the link to the last step, or says why not. Nullable: result.';
