-- What may have to be erased. Events hold a salted hash of it, so that erasing leaves the chain whole.
create table capacity.personal_data (
  request_id text primary key references capacity.requests,
  salt bytea,
  customer_ref jsonb,
  erased_at timestamptz,
  check ((erased_at is null) = (salt is not null))
);
comment on table capacity.personal_data
  is 'customer_ref of each request; with the salt gone, the hash in the log says nothing about it.';

-- What people wrote in their own words: reasons, the bodies of notes, errors of provisioning. Anybody may be named in it, so it can be
-- erased too. Events and notices hold the hash, by which it is found.
create table capacity.free_texts (
  request_id text not null references capacity.requests,
  hash bytea not null,
  salt uuid,
  content jsonb,
  created_at timestamptz not null default clock_timestamp(),
  primary key (request_id, hash),
  check ((salt is null) = (content is null))
);
comment on table capacity.free_texts
  is 'Words of people in the log of a request, apart from it. Salt and content are null once they were erased.';
comment on column capacity.free_texts.hash is 'SHA-256 over the salt and the text of the content.';

-- Who asked for a customer to be erased, and how far that has come.
create table capacity.erasures (
  request_id text primary key references capacity.requests,
  requested_at timestamptz not null,
  requested_by text not null,
  via text not null,
  why text not null,
  covers_to timestamptz not null,
  texts integer not null default 0,
  messages integer not null default 0,
  skipped integer not null default 0,
  waiting integer not null default 0,
  tried_at timestamptz not null,
  finished_at timestamptz
);
create index erasures_open on capacity.erasures (tried_at) where finished_at is null;
comment on table capacity.erasures
  is 'Erasures of customers. One that is not finished waits for messages that are on their way; the sweep finishes it.';
comment on column capacity.erasures.covers_to is 'What was said about the request later than this is not part of the erasure.';
comment on column capacity.erasures.waiting is 'Messages that could not be erased yet when it was last tried.';
