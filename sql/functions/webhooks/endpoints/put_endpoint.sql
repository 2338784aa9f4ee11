-- Makes an endpoint, or changes the given fields: url, topics, description, headers. It is identified by its name in the workspace, or
-- without a workspace among the installation's own. A new one gets a secret to sign with, which is returned only by this call. Pass secrets
-- as parameters of the statement and not in its text, which servers log.
create or replace function webhooks.put_endpoint(
  p_name text, p_changes jsonb default '{}', p_secret text default null, p_allow_private boolean default false,
  p_tenant_id text default null,
  out name text, out created boolean, out secret text
)
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_old webhooks.endpoints;
  v_new webhooks.endpoints;
begin
  perform headroom.check_changes(p_changes, '{url,topics,description,headers}');
  if p_name is null then
    perform headroom.fail('invalid_input', 'The name of the endpoint is missing.', null, 'Nothing was changed.');
  end if;
  select * into v_old from webhooks.endpoints e where e.name = p_name and e.tenant_id is not distinct from p_tenant_id for update;
  if not found then
    if p_tenant_id is not null then
      perform headroom.run_hooks('webhooks.tenant_named', jsonb_build_object('tenant_id', p_tenant_id));
    end if;
    -- New ones are made one at a time in each workspace: of two callers that make the same one, the second finds that of the first, and
    -- two cannot both take the last free place. The installation has no such limit, so only the same name waits there.
    perform headroom.take_turn('webhooks.put_endpoint:' || case when p_tenant_id is null then 'name:' || coalesce(p_name, '')
                                                                else 'tenant:' || p_tenant_id end);
    select * into v_old from webhooks.endpoints e where e.name = p_name and e.tenant_id is not distinct from p_tenant_id for update;
  end if;
  created := not found;
  if created then
    v_old := jsonb_populate_record(null::webhooks.endpoints, jsonb_build_object(
      'id', gen_random_uuid(), 'name', p_name, 'topics', '[]'::jsonb, 'tenant_id', p_tenant_id, 'private', false));
  elsif p_secret is not null then
    perform headroom.fail('conflict', 'This endpoint has a secret already.', null,
      'Rotate it, so that receivers can change over. Nothing was changed.');
  end if;
  begin
    v_new := jsonb_populate_record(v_old, p_changes - 'headers');
  exception when data_exception then
    perform headroom.fail('invalid_input', 'A field of the endpoint has a value of the wrong type.', sqlerrm, 'Nothing was changed.');
  end;
  perform webhooks.check_endpoint(v_new);
  if created or v_new.url is distinct from v_old.url then
    perform webhooks.check_endpoint_url(v_new.url, coalesce(p_allow_private, false));
    v_new.private := coalesce(p_allow_private, false);
    perform outbox.clear_destination('endpoint:' || v_new.id);
  end if;
  if created and (select count(*) from webhooks.endpoints e where e.tenant_id = p_tenant_id) >= 50 then
    perform headroom.fail('conflict', 'This workspace already has 50 endpoints, which is the limit.', null,
      'Remove one that is not needed. Nothing was changed.');
  end if;

  name := p_name;
  if created then
    insert into webhooks.endpoints (id, name, tenant_id, url, description, topics, private)
    values (v_new.id, p_name, p_tenant_id, v_new.url, v_new.description, v_new.topics, v_new.private);
    secret := webhooks.add_endpoint_secret(v_new.id, p_secret, interval '0');
  end if;
  update webhooks.endpoints e
     set url = v_new.url, private = v_new.private, description = v_new.description, topics = v_new.topics, updated_at = now(),
         version = e.version + 1, header_names = case when p_changes ? 'headers'
           then webhooks.set_endpoint_headers(v_new.id, p_changes -> 'headers') else e.header_names end
   where e.id = v_new.id;
end
$$;
comment on function webhooks.put_endpoint(text, jsonb, text, boolean, text)
  is 'Makes or changes an endpoint; returns a new one''s secret, only this time. Nullable: secret.';
