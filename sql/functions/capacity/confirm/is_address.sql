-- Whether a text is one e-mail address: nothing that could break a header or reach several people. Pure.
create or replace function capacity.is_address(p_text text) returns boolean
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
begin
  return coalesce(length(p_text) <= 320 and p_text ~ '^[^@\s[:cntrl:],;:<>()"\\]+@[^@\s[:cntrl:],;:<>()"\\]+$', false);
end
$$;
comment on function capacity.is_address(text) is 'Whether a text is an e-mail address to which mail can be sent.';
