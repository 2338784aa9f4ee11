-- The log as the API shows it, to those who may read the request. The id of the customer's link is left out: half of a token is only for
-- the mail. Where the log has the hash of a free text, the text is shown, or that it was erased.
create or replace view public.capacity_request_events with (security_invoker = true) as
select e.id, e.request_id as capacity_request_id, e.event_type, e.actor_type, e.actor_id,
       case when e.payload ?| '{reason_hash,error_hash}' then
         (e.payload - '{confirmation_token_id,reason_hash,error_hash}'::text[])
         || (select coalesce(jsonb_object_agg(f.name, coalesce(t.content, '"(erased)"')), '{}')
               from (values ('reason'), ('error')) f(name)
               join capacity.free_texts t on t.request_id = e.request_id and t.hash = decode(e.payload ->> (f.name || '_hash'), 'hex'))
       else e.payload - 'confirmation_token_id' end as payload,
       e.created_at, e.seq, e.via, e.state_before, e.state_after, encode(e.hash, 'hex') as hash
  from capacity.events e
 where (select directory.reader_key_valid());
comment on view public.capacity_request_events is 'What happened to capacity requests, event by event.';
