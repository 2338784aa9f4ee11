-- The heads of all chains, to be kept where the owner of the database cannot write. Paged by id.
create or replace function capacity.list_heads(p_after text default '', p_limit integer default 10000, p_workspace_id text default null)
returns table (request_id text, version integer, hash text)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp set plan_cache_mode = force_custom_plan
as $$
#variable_conflict use_column
begin
  if p_limit is null or p_limit not between 1 and 100000 then
    perform headroom.fail('invalid_input', 'A page has 1 to 100000 heads.');
  end if;
  return query
  select r.id, r.version, encode(r.head_hash, 'hex')
    from capacity.requests r
   where r.id > coalesce(p_after, '') and (p_workspace_id is null or r.workspace_id = p_workspace_id)
   order by r.id limit p_limit;
end
$$;
comment on function capacity.list_heads(text, integer, text) is 'Number and hash of the last event of each request, in pages.';
