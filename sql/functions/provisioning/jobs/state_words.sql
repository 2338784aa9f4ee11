-- A state of a job in words.
create or replace function provisioning.state_words(p_state text) returns text
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
begin
  return coalesce('{
    "new": "new",
    "waiting": "waiting for its turn",
    "queued": "waiting for its run to begin",
    "provisioning": "being provisioned",
    "failed": "waiting for somebody to try again",
    "running": "running",
    "given_up": "failed for good",
    "cancelled": "cancelled"}'::jsonb ->> p_state, 'unknown');
end
$$;
comment on function provisioning.state_words(text) is 'A state of a job in words, as messages say it.';
