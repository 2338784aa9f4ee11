-- The allocator of each participant's numbers. Not for auditors: future numbers are not part of any record.
create or replace view payments.participant_outbox_sequences as
select l.key as participant_id, l.next_seq as next_sequence_id from outbox.lane_positions l where l.stream = 'payments';
comment on view payments.participant_outbox_sequences is 'Next number of each participant.';
