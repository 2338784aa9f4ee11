-- Grants of the schema `provisioning`: everything is revoked first, then exactly this is granted. Only the owner writes
-- tables: the definer functions are the only way in. Functions that are not named here are internal and run only inside those.
select headroom.close_schema('provisioning');

-- Members and machines read through the views of public, which run with the caller's rights. Which rows: sql/policies/provisioning.sql.
grant select on
  provisioning.jobs, provisioning.attempts, provisioning.steps
to authenticated, service_role;

-- Control connects workflows. Both control and auditors read, list and verify.
grant usage on schema provisioning to headroom_control, headroom_auditor;
grant select on all tables in schema provisioning to headroom_control, headroom_auditor;
grant execute on function
  provisioning.put_settings(text, jsonb),
  provisioning.put_secret(text, text),
  provisioning.drop_previous_secret(text)
to headroom_control;
grant execute on function
  provisioning.list_settings(),
  provisioning.list_jobs(text, text[], integer),
  provisioning.verify_jobs(text, integer, text)
to headroom_control, headroom_auditor;

-- Relays also count jobs, for their metrics.
grant usage on schema provisioning to headroom_executor;
grant execute on function provisioning.job_counts() to headroom_executor, headroom_control, headroom_auditor;
