-- Stores a value of an endpoint that must not be shown: a key to sign with, or its headers.
create or replace function webhooks.keep_endpoint_secret(p_endpoint_id uuid, p_kind text, p_value text) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_id uuid := gen_random_uuid();
begin
  insert into webhooks.endpoint_secrets (secret_id, endpoint_id, kind) values (v_id, p_endpoint_id, p_kind);
  perform headroom.keep_box(webhooks.box_name(v_id), format('endpoint %s%s (%s)', e.name, ' of workspace ' || e.tenant_id, p_kind), p_value)
     from webhooks.endpoints e where e.id = p_endpoint_id;
end
$$;
comment on function webhooks.keep_endpoint_secret(uuid, text, text) is 'Stores a secret of an endpoint, in Vault or sealed.';
