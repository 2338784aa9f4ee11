-- The number of a request's last notice, or 0. A caller that uses the next number holds the request's lock.
create or replace function capacity.last_notice(p_request_id text) returns bigint
language sql stable set search_path = pg_catalog, pg_temp
as $$
  select coalesce(max(n.id), 0) from capacity.notices n where n.request_id = p_request_id;
$$;
comment on function capacity.last_notice(text) is 'The number of the last notice of a request.';
