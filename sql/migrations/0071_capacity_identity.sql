-- One person with two entries in the directory: which of them are the same, and who has no Slack account.
alter table directory.members
  add column same_as text,
  add column without_slack_by text,
  add column without_slack_at timestamptz,
  add foreign key (workspace_id, same_as) references directory.members,
  add constraint members_without_slack
    check ((without_slack_by is null) = (without_slack_at is null) and (without_slack_by is null or slack_user_id is null));
create index members_same_as on directory.members (workspace_id, same_as) where same_as is not null;
comment on column directory.members.same_as
  is 'The member who has this one''s account now, and so is the same person: what either asked for, neither reviews.';
comment on column directory.members.without_slack_by is 'The login that said that this member has no Slack account; null: nobody did.';

alter type directory.standing add attribute own_ids text[], add attribute linked boolean;
comment on type directory.standing
  is 'An active member''s roles and groups, for whom they stand in now, by which ids they are known, and whether it is known which '
     'Slack user they are.';

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
