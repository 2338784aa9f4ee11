-- One person with two entries in the directory: who is known by a Slack user alone, and who has no Slack account.
alter table directory.members
  add column by_slack boolean not null default false,
  add column without_slack_by text,
  add column without_slack_at timestamptz,
  add constraint members_without_slack
    check ((without_slack_by is null) = (without_slack_at is null) and (without_slack_by is null or slack_user_id is null));
create index members_by_slack on directory.members (workspace_id) where by_slack;
comment on column directory.members.by_slack
  is 'Slack made this member on first use. While nobody has said which Slack users the reviewers are, it may be any of them.';
comment on column directory.members.without_slack_by is 'The login that said that this member has no Slack account; null: nobody did.';

update directory.members m set by_slack = true
 where m.id in (m.slack_user_id, 'slack-' || m.slack_user_id)
    or exists (select from directory.ended_accounts e
                where e.workspace_id = m.workspace_id and e.issuer = 'slack' and e.member_id = m.id
                  and m.id in (e.subject, 'slack-' || e.subject));

alter type directory.standing add attribute linked boolean;
comment on type directory.standing
  is 'An active member''s roles and groups, for whom they stand in now, and whether it is known which Slack user they are.';

-- They return more.
drop function if exists directory.list_members(text, boolean);

-- Callers may name somebody in an idempotency key: the keyed hash knows a repeat as well (capacity.submit).
comment on column capacity.submissions.idempotency_key
  is 'HMAC-SHA-256 of the caller''s key under the workspace''s key (capacity.customer_keys), as hexadecimal digits.';
do $$
begin
  if exists (select from capacity.submissions) then
    update capacity.submissions s
       set idempotency_key = encode(headroom.hmac_sha256(
             capacity.marking_key(s.workspace_id), convert_to('key:' || s.idempotency_key, 'UTF8')), 'hex');
  end if;
end
$$;
