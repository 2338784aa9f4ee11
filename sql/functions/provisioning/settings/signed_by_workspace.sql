-- Whether a workspace's callback secret, or the previous one, made this signature. A stored secret that cannot be decrypted here is a
-- mistake of the installation, not of the run, which may try again.
create or replace function provisioning.signed_by_workspace(p_workspace_id text, p_data bytea, p_signature bytea) returns boolean
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_name text := provisioning.secret_name(p_workspace_id);
  v_secret text := headroom.open_box(v_name);
  v_previous text := headroom.open_box(v_name || ':previous');
begin
  if v_secret is null and exists (select from headroom.boxes b where b.name = v_name) then
    perform headroom.fail('not_configured', 'The callback secret cannot be read here.', null,
      'An operator gives this process the HEADROOM_SECRET_KEY that the others have.');
  end if;
  -- Without a secret the work is the same, so that the time taken reveals nothing.
  return headroom.equal_constant_time(headroom.hmac_sha256(convert_to(coalesce(v_secret, 'none'), 'UTF8'), p_data), p_signature)
           and v_secret is not null
      or v_previous is not null
         and headroom.equal_constant_time(headroom.hmac_sha256(convert_to(v_previous, 'UTF8'), p_data), p_signature);
end
$$;
comment on function provisioning.signed_by_workspace(text, bytea, bytea)
  is 'Whether HMAC-SHA-256 of the data under the workspace''s callback secret, or the one before it, is this signature.';
