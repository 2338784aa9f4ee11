-- Grants of the schema `directory`: everything is revoked first, then exactly this is granted. Only the owner writes
-- tables: the definer functions are the only way in. Functions that are not named here are internal and run only inside those.
select headroom.close_schema('directory');

-- Members and machines read through the views of public, which run with the caller's rights. So they get the tables and what policies call,
-- but never the schema, so that nothing in it can be named. Which rows: sql/policies/directory.sql.
grant select on directory.workspaces, directory.members to authenticated, service_role;
grant execute on function
  directory.reader_id(),
  directory.reader_workspace(text[]),
  directory.reader_roles(),
  directory.reader_groups(),
  directory.reader_owners(),
  directory.reader_named()
to authenticated;
-- Every view of public calls this, whoever reads it.
grant execute on function
  directory.reader_key_valid()
to authenticated, service_role, headroom_control, headroom_auditor;

-- Control manages the directory; auditors read it.
grant usage on schema directory to headroom_control, headroom_auditor;
grant select on all tables in schema directory to headroom_control, headroom_auditor;
grant execute on function
  directory.put_workspace(text, jsonb),
  directory.put_member(text, text, jsonb),
  directory.remove_member(text, text),
  directory.put_group(text, text, text, text[], text[], text),
  directory.remove_group(text, text),
  directory.put_identity(text, text, text, text),
  directory.remove_identity(text, text),
  directory.put_identity_domain(text, text, text),
  directory.remove_identity_domain(text, text),
  directory.put_api_key(text, text, text, text, timestamptz, text),
  directory.revoke_api_key(text)
to headroom_control;
grant execute on function
  directory.list_api_keys(),
  directory.list_identities(text, text),
  directory.list_identity_domains(text),
  directory.list_workspaces(),
  directory.list_members(text, boolean),
  directory.list_groups(text)
to headroom_control, headroom_auditor;
