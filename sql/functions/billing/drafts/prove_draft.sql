-- A visitor used the link of a draft's mail, and so has shown that the address is theirs: from now on only the link opens the draft, and
-- the mails sent to that mailbox no longer count against anyone. So a person who had mails sent to another person's mailbox cannot keep its
-- owner from ordering. The last mail of a draft went to its current address.
create or replace function billing.prove_draft(p_draft billing.drafts) returns billing.drafts
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_draft billing.drafts;
  v_mailbox bytea;
begin
  select m.address_mark into v_mailbox from billing.draft_mails m where m.draft_id = p_draft.id order by m.id desc limit 1;
  if found then
    -- Rows are locked in one order, and without the mailbox's turn: a visitor who changes to another address takes that mailbox's turn
    -- next.
    update billing.draft_mails m set proven = true
     where m.id in (select o.id from billing.draft_mails o
                     where o.workspace_id = p_draft.workspace_id and o.address_mark = v_mailbox and not o.proven order by o.id for update);
  end if;
  update billing.drafts d set proven_at = clock_timestamp() where d.id = p_draft.id returning d.* into v_draft;
  return v_draft;
end
$$;
comment on function billing.prove_draft(billing.drafts) is 'Makes a draft belong to the person who has the link of its mail.';
