-- What people are asked to do about a job, in a sentence, by provisioning.asks_for().
create or replace function provisioning.asked_words(p_job provisioning.jobs) returns text
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
begin
  return case p_job.asked_for
    when 'retry' then 'The job still waits for somebody to try again, or to give it up.'
    when 'cleanup_failed' then 'The cleanup has failed, and something may still be running. An operator has to clean up by hand.'
    -- Also for a cleanup, which holds a job in another way.
    when 'dispatch' then 'GitHub could not be asked for the run yet. An operator has to check the relay: headroom doctor, headroom '
                         'outbox status.'
    else provisioning.held_words(p_job.id) end;
end
$$;
comment on function provisioning.asked_words(provisioning.jobs) is 'What people are asked to do about a job, in words.';
