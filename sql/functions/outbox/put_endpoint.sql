-- Makes an endpoint, or changes the fields that are given: url, topics, description, headers; and, when it is made, the workspace whose
-- endpoint it is. A new one gets a secret to sign with, which is returned this once and never again. Pass secrets as parameters of
-- the statement and not in its text, which servers log.
create or replace function outbox.put_endpoint(
  p_name text, p_changes jsonb default '{}', p_secret text default null, p_allow_private boolean default false,
  out name text, out created boolean, out secret text
)
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_old outbox.endpoints;
  v_new outbox.endpoints;
begin
  perform capacity.check_changes(p_changes, '{url,topics,description,headers,workspace_id}');
  -- Two who make the same one at the same time: the second finds that of the first.
  perform pg_advisory_xact_lock(hashtextextended('outbox.put_endpoint:' || p_name, 0));
  select * into v_old from outbox.endpoints e where e.name = p_name for update;
  created := not found;
  if created then
    v_old := jsonb_populate_record(null::outbox.endpoints, jsonb_build_object('name', p_name, 'topics', '[]'::jsonb, 'workspace_id', p_changes -> 'workspace_id'));
  elsif p_changes ? 'workspace_id' and p_changes ->> 'workspace_id' is distinct from v_old.workspace_id then
    perform capacity.fail('conflict', 'An endpoint stays with whom it was made for.', null, 'Make another one, and remove this one. Nothing was changed.');
  elsif p_secret is not null then
    perform capacity.fail('conflict', 'This endpoint has a secret already.', null, 'Rotate it, so that receivers can change over. Nothing was changed.');
  end if;
  begin
    v_new := jsonb_populate_record(v_old, p_changes - 'headers' - 'workspace_id');
  exception when data_exception then
    perform capacity.fail('invalid_input', 'A field of the endpoint has a value of the wrong type.', sqlerrm, 'Nothing was changed.');
  end;
  perform outbox.check_endpoint(v_new);
  if created or v_new.url is distinct from v_old.url then
    perform outbox.check_endpoint_url(v_new.url, coalesce(p_allow_private, false));
  end if;
  if created and v_new.workspace_id is not null and not exists (select from capacity.workspaces w where w.id = v_new.workspace_id) then
    perform capacity.fail('not_found', format('There is no workspace "%s".', left(v_new.workspace_id, 64)), null, 'Make it first, or name another.');
  end if;

  name := p_name;
  if created then
    insert into outbox.endpoints (name, workspace_id, url, description, topics)
    values (p_name, v_new.workspace_id, v_new.url, v_new.description, v_new.topics);
    secret := outbox.add_endpoint_secret(p_name, p_secret, interval '0');
  end if;
  update outbox.endpoints e
     set url = v_new.url, description = v_new.description, topics = v_new.topics, updated_at = now(), version = e.version + 1,
         header_names = case when p_changes ? 'headers' then outbox.set_endpoint_headers(p_name, p_changes -> 'headers') else e.header_names end
   where e.name = p_name;
end
$$;
comment on function outbox.put_endpoint(text, jsonb, text, boolean) is 'Makes or changes an endpoint; a new one''s secret is returned this once. Nullable: secret.';
