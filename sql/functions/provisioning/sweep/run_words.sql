-- What happened to a run that did not report it, in words.
create or replace function provisioning.run_words(p_attempt provisioning.attempts, p_run jsonb) returns text
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
begin
  return format('Run %s %s.', left(p_run ->> 'id', 20), case
    when p_attempt.run_id is not null and p_run ->> 'attempt' is distinct from p_attempt.run_attempt::text then 'was restarted at GitHub'
    else format('ended as %s and %s', left(coalesce(p_run ->> 'conclusion', 'unknown'), 40),
                case when p_attempt.run_id is null then 'never claimed the job' else 'did not report it' end) end);
end
$$;
comment on function provisioning.run_words(provisioning.attempts, jsonb) is 'What happened to a run, as GitHub reports it.';
