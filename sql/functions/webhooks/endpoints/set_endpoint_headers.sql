-- Stores the headers that are sent with every request to an endpoint, sealed as a whole, because headers may contain tokens; returns their
-- names, which may be shown. Headers of HTTP or of the signature cannot be set: an endpoint could forge or split requests with them.
create or replace function webhooks.set_endpoint_headers(p_endpoint_id uuid, p_headers jsonb) returns text[]
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_names text[];
  v_wrong text;
begin
  if p_headers is not null and jsonb_typeof(p_headers) not in ('object', 'null') then
    perform headroom.fail('invalid_input', 'Headers are an object of names and values.', null, 'Nothing was changed.');
  end if;
  select array_agg(n.name order by n.name),
         max(case when h.key !~ '^[A-Za-z0-9!#$%&''*+.^_`|~-]{1,128}$' then 'one has a name that HTTP does not allow'
                  when n.name in ('connection', 'content-encoding', 'content-length', 'content-type', 'expect', 'host', 'keep-alive',
                                        'proxy-authenticate', 'proxy-authorization', 'proxy-connection', 'te', 'trailer',
                                        'transfer-encoding', 'upgrade',
                                        'webhook-id', 'webhook-signature', 'webhook-timestamp') then n.name || ' is set by the rail'
                  when jsonb_typeof(h.value) <> 'string' or h.value #>> '{}' !~ '^[\t\x20-\x7e]*$' or length(h.value #>> '{}') > 4096
                  then n.name || ': printable ASCII, at most 4096 characters' end)
    into v_names, v_wrong
    from jsonb_each(case when jsonb_typeof(p_headers) = 'object' then p_headers else '{}' end) h
   cross join lateral (select lower(h.key collate "C") as name) n;
  v_wrong := case when cardinality(v_names) > 20 then 'more than 20'
                  when cardinality(v_names) > (select count(distinct n) from unnest(v_names) n) then 'one is there twice' else v_wrong end;
  if v_wrong is not null then
    perform headroom.fail('invalid_input', 'The headers of the endpoint are not acceptable.', v_wrong, 'Nothing was changed.');
  end if;
  perform webhooks.drop_endpoint_secrets(array_agg(s.secret_id)) from webhooks.endpoint_secrets s
   where s.endpoint_id = p_endpoint_id and s.kind = 'headers';
  if v_names is not null then
    perform webhooks.keep_endpoint_secret(p_endpoint_id, 'headers', p_headers::text);
  end if;
  return coalesce(v_names, '{}');
end
$$;
comment on function webhooks.set_endpoint_headers(uuid, jsonb) is 'Seals the extra headers of an endpoint and returns their names.';
