-- A settle is told of rows one by one: each outcome is one value, where the seventeen arrays that ran in parallel were one mistake away from
-- telling one row's outcome of another.
create type outbox.row_outcome as (
  claim_id bigint,
  lane_id bigint,
  seq bigint,
  outbox_id uuid,
  attempt_no integer,
  latency_ms integer,
  kind text,
  code text,
  reference text,
  message text,
  after_ms bigint,
  throttled boolean,
  absent boolean,
  destination_id integer,
  captured jsonb,
  sent_hash bytea
);
comment on type outbox.row_outcome
  is 'What became of one claimed row. Nullable: lane_id, seq, latency_ms, kind, code, reference, message, after_ms, throttled, absent, destination_id, captured, sent_hash.';
comment on column outbox.row_outcome.attempt_no is 'The number of the line that the claim wrote.';
comment on column outbox.row_outcome.kind is 'delivered, retry, unknown, rejected or released; null for delivered.';
comment on column outbox.row_outcome.code is 'The receiver''s code of a delivery, the error code of everything else.';
comment on column outbox.row_outcome.throttled is 'Whether the whole destination asked for a pause.';
comment on column outbox.row_outcome.absent is 'Whether a lookup said that an earlier try never arrived.';
comment on column outbox.row_outcome.captured is 'What a delivery keeps of its answer, by name.';
comment on column outbox.row_outcome.sent_hash is 'Of a row whose text was made when it was sent, as outbox.fill_binds() said; null for one that went out as it is stored.';

drop function if exists outbox.settle(smallint, bigint[], bigint[], bigint[], uuid[], integer[], integer[], text[], text[], text[], text[],
                                      bigint[], boolean[], boolean[], integer[], jsonb, bytea[]);
drop function if exists outbox.settle_lanes(outbox.streams, outbox.fenced_lane[], bigint[], bigint[], bigint[], uuid[], integer[], integer[], text[], text[], text[], bytea[]);
drop function if exists outbox.settle_rows(outbox.streams, bigint[], uuid[], integer[], integer[], text[], text[], text[], bytea[]);
drop function if exists outbox.settle_lane_exceptions(outbox.streams, bigint[], bigint[], bigint[], uuid[], integer[], integer[], text[], text[], text[],
                                                      bigint[], boolean[], bytea[]);
drop function if exists outbox.settle_row_exceptions(outbox.streams, bigint[], uuid[], integer[], integer[], text[], text[], text[], bigint[], boolean[], bytea[]);
drop function if exists outbox.fence_lanes(bigint[], bigint[], bigint[], bigint[], text[]);
drop function if exists outbox.late_in_lanes(bigint[], bigint[], bigint[], bigint[], uuid[]);
drop function if exists outbox.late_rows(outbox.streams, bigint[], bigint[], uuid[], integer[]);
drop function if exists outbox.note_destinations(integer[], text[], text[], bigint[], boolean[]);
drop function if exists outbox.store_captures(jsonb);
