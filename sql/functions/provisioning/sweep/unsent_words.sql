-- Why the run of an attempt could not be requested yet: the last answer to the job's first waiting call, or that no relay has taken it. A
-- cleanup waits behind the call that stops the run before it.
create or replace function provisioning.unsent_words(p_attempt provisioning.attempts) returns text
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_first record;
begin
  select w.outbox_id, w.lines, w.idempotency_key into v_first from outbox.waiting w
   where w.stream = 'provisioning' and w.key = 'job:' || p_attempt.job_id order by w.seq limit 1;
  return case when v_first.outbox_id is null then 'It is being sent.'
              when v_first.lines = 0 then 'No relay has taken it: headroom doctor says whether one serves github-actions.'
              else provisioning.dispatch_error(v_first.outbox_id) end;
end
$$;
comment on function provisioning.unsent_words(provisioning.attempts) is 'Why an attempt''s run was not asked for yet, in words.';
