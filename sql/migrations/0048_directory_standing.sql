-- What a member is at a moment, as far as rights go: the one form in which readers and actors are known to policies and to decisions.
create type directory.standing as (
  workspace_id text,
  member_id text,
  name text,
  slack_user_id text,
  roles text[],
  groups text[],
  stands_for text[],
  stands_for_owners text[]
);
comment on type directory.standing
  is 'An active member''s roles and groups, and for whom they stand in now: anybody, and owners who may review.';
