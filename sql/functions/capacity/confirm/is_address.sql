-- Whether mail can be sent to a stored text: nothing in it could break a header or reach several people. New input must be a
-- canonical address, which is stricter (headroom.address_problem); addresses from before that rule still get mail. Pure.
create or replace function capacity.is_address(p_text text) returns boolean
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
begin
  return coalesce(length(p_text) <= 320 and p_text ~ '^[^@\s[:cntrl:],;:<>()"\\]+@[^@\s[:cntrl:],;:<>()"\\]+$', false);
end
$$;
comment on function capacity.is_address(text) is 'Whether a text is an e-mail address to which mail can be sent.';
