-- Does as much of an erasure as is possible now, and records the progress. Every part may run again: data that is gone already
-- is not found, and messages that cannot be erased yet are counted as waiting. The caller has locked the request, so nothing is added.
create or replace function capacity.erase_step(p_request_id text) returns capacity.erasures
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_erasure capacity.erasures;
  v_messages record;
  v_texts integer;
begin
  select * into v_erasure from capacity.erasures x where x.request_id = p_request_id for update;
  -- Whatever the column held.
  delete from capacity.personal_data d where d.request_id = p_request_id and d.erased_at is null;
  if found then
    insert into capacity.personal_data (request_id, erased_at) values (p_request_id, v_erasure.requested_at);
  end if;
  -- The keyed hash still identifies the request's customer.
  update capacity.request_customers c set customer_id = null where c.request_id = p_request_id and c.customer_id is not null;
  -- The fingerprint of the submission is a hash without salt, from which a customer could be guessed.
  update capacity.submissions s set fingerprint = sha256(uuid_send(gen_random_uuid()))
   where s.request_id = p_request_id and v_erasure.finished_at is null;
  update capacity.free_texts t set salt = null, content = null
   where t.request_id = p_request_id and t.content is not null and t.created_at <= v_erasure.covers_to;
  get diagnostics v_texts = row_count;
  -- The stored error of a failed timer may quote them.
  update capacity.timer_failures f set message = '(erased)' where f.request_id = p_request_id and f.last_at <= v_erasure.covers_to;
  v_messages := capacity.erase_messages(p_request_id, v_erasure.covers_to, v_erasure.requested_by, v_erasure.why);

  update capacity.erasures x
     set texts = x.texts + v_texts, messages = x.messages + v_messages.erased, skipped = x.skipped + v_messages.skipped,
         waiting = v_messages.waiting, tried_at = clock_timestamp(),
         finished_at = case when v_messages.waiting = 0 then coalesce(x.finished_at, clock_timestamp()) end
   where x.request_id = p_request_id
  returning * into v_erasure;
  return v_erasure;
end
$$;
comment on function capacity.erase_step(text) is 'Erases as much as possible now of a request whose erasure is recorded.';
