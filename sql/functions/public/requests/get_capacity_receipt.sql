-- The receipt of a request, or of one of its events (p_seq): for each event the hash before it, its text and its hash, and the head of the
-- chain. Whoever has it can check it without the database: each hash is SHA-256 of the bytes of the hash before and of the text in UTF-8.
-- Heads that were kept elsewhere prove besides that the whole chain is the one of that day (headroom verify --export-head).
--
-- For auditors and admins, and for machines and operators. What can be erased is in no text.
create or replace function public.get_capacity_receipt(p_request_id text, p_seq integer default null) returns jsonb
language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_caller record := directory.caller();
  v_request capacity.requests := capacity.readable_request(p_request_id);
  v_events jsonb;
begin
  if v_caller.kind = 'member'
        and ((directory.standing_of(v_caller.workspace_id, v_caller.member_id)).roles && array['auditor', 'admin']) is not true then
    perform headroom.fail('not_allowed', 'Only an auditor or an admin gets receipts.', p_request_id, 'Ask one of them for it.');
  end if;
  select jsonb_agg(jsonb_build_object(
           'seq', e.seq,
           'previous', (select encode(b.hash, 'hex') from capacity.events b where b.request_id = e.request_id and b.seq = e.seq - 1),
           'text', capacity.event_text(e), 'hash', encode(e.hash, 'hex')) order by e.seq)
    into v_events
    from capacity.events e where e.request_id = v_request.id and (p_seq is null or e.seq = p_seq);
  if v_events is null then
    perform headroom.fail('not_found', format('The request has no event %s.', p_seq), p_request_id,
                          format('It has the events 1 to %s.', v_request.version));
  end if;
  return jsonb_build_object('receipt', 1, 'request_id', v_request.id,
                            'head', jsonb_build_object('seq', v_request.version, 'hash', encode(v_request.head_hash, 'hex')),
                            'events', v_events);
end
$$;
comment on function public.get_capacity_receipt(text, integer)
  is 'The texts and hashes of a request''s events, to be checked elsewhere. Nullable: p_seq.';
