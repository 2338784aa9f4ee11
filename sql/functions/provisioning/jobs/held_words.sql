-- Why a job has not begun, in a sentence; null if nothing holds it.
create or replace function provisioning.held_words(p_job_id uuid) returns text
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
begin
  return case provisioning.held_by(p_job_id)
    when 'not_connected' then 'No workflow is connected yet that could provide the capacity: an operator connects one '
                              '(headroom jobs connect), or records the outcome (headroom jobs complete).'
    when 'no_address' then 'Runs could not report back, because the workspace has no public address: an operator sets one '
                           '(headroom jobs connect --callback-url).'
    when 'person' then 'The request was confirmed before jobs were kept, and somebody may be providing it by hand. Try again to have the '
                       'workflow do it, or record the outcome.'
    when 'cleanup' then 'The next attempt begins when the cleanup after the last one is done.'
    when 'cleanup_failed' then 'The cleanup after the last attempt has failed, and something may be left running: nothing begins on top '
                               'of it. An operator cleans up and records that (headroom jobs cleaned).'
    when 'run' then 'The next attempt begins when the run of the last one is known to have ended.'
    when 'dispatch' then 'GitHub could not be asked for the run yet. An operator has to check the relay: headroom doctor, headroom '
                         'outbox status.'
    when 'customer' then 'Another request of this customer is being provisioned; this one begins when that one has ended.' end;
end
$$;
comment on function provisioning.held_words(uuid) is 'What a waiting job waits for, in words. Nullable: result.';
