-- What a run reported as its error: other people's words, after the failed step. Null if it reported nothing.
create or replace function provisioning.error_words(p_attempt provisioning.attempts) returns text
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
begin
  return nullif(concat_ws(': ', p_attempt.failed_step, p_attempt.error), '');
end
$$;
comment on function provisioning.error_words(provisioning.attempts) is 'The failed step and the error of an attempt. Nullable: result.';
