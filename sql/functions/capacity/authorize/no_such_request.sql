-- The same answer for a request that does not exist, one of another workspace, and one that the caller may not see. Ids in a
-- workspace may be consecutive: if callers could tell the three apart, they could count other people's requests.
create or replace function capacity.no_such_request(p_request_id text) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
begin
  perform headroom.fail('not_found', 'There is no such request, or you may not see it.', left(p_request_id, 80),
    'Check the id; it looks like CR-2026-000042.');
end
$$;
comment on function capacity.no_such_request(text)
  is 'Raises not_found, in the same words for every request that the caller may not know of.';
