-- An envelope that an application published: once, whoever hears of it. Its deliveries are rows of the stream, one per endpoint.
create table webhooks.envelopes (
  id uuid primary key,
  ord bigint generated always as identity,
  stream_id smallint not null,
  instruction_id text not null,
  type text not null,
  subject text,
  payload jsonb,
  outbox_ids uuid[],
  created_at timestamptz not null default clock_timestamp(),
  unique (stream_id, instruction_id)
);
create index envelopes_by_age on webhooks.envelopes (stream_id, created_at);
create index envelopes_not_addressed on webhooks.envelopes (stream_id, ord) where outbox_ids is null;
comment on table webhooks.envelopes is 'Events that applications published, as CloudEvents 1.0.';
comment on column webhooks.envelopes.instruction_id is 'Source and id of the event, which together are the event.';
comment on column webhooks.envelopes.payload
  is 'Null once it has been erased; a repeat of the event is still known by its source and id.';
comment on column webhooks.envelopes.outbox_ids
  is 'Its deliveries, one per endpoint that heard of it; null until the publishing transaction commits.';
