-- What is said about a request without changing it: warnings, reminders, nudges and notes; that the customer was not asked, an address
-- that was added, and a link that was sent again. Numbered within the request: one row of numbers for all would tell everybody how many
-- the others have.
create table capacity.notices (
  request_id text not null references capacity.requests,
  id bigint not null,
  kind text not null check (kind in ('warning', 'reminder', 'late', 'nudge', 'note', 'unasked', 'address', 'link')),
  step text check (step in ('commercial', 'technical', 'confirmation')),
  member_id text,
  actor_type public.capacity_request_actor_type not null,
  actor_id text not null,
  via text not null,
  body_hash bytea,
  effects text[] not null default '{}',
  created_at timestamptz not null default now(),
  primary key (request_id, id)
);
create index notices_request on capacity.notices (request_id, kind, created_at);
create unique index notices_one_warning on capacity.notices (request_id) where kind = 'warning';
create unique index notices_one_late on capacity.notices (request_id, step) where kind = 'late';
-- How often a person was reminded of a review, and when last.
create index notices_reminders on capacity.notices (request_id, step, member_id, created_at) where kind = 'reminder';
-- When a person was last reminded of anything.
create index notices_reminded on capacity.notices (member_id, created_at) where kind = 'reminder';
comment on table capacity.notices
  is 'What is said about a request without changing it. Append-only; side effects have instruction <request>!<id>.';
comment on column capacity.notices.id is 'Counts within the request, under its lock.';
comment on column capacity.notices.body_hash
  is 'Of the body in free_texts: the words of a note, or the address that a notice of kind address added.';
