-- The same answer for a payment that does not exist, one of another workspace, and one that the caller may not see.
create or replace function billing.no_such_payment(p_id text) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
begin
  perform headroom.fail('not_found', 'There is no such payment, or you may not see it.', left(p_id, 80), 'Name it by its id.');
end
$$;
comment on function billing.no_such_payment(text)
  is 'Raises not_found, in the same words for every payment that the caller may not know of.';
