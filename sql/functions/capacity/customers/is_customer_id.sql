-- Whether a text can be a customer's id. Characters that no surface shows are refused, because ids that look the same would be two
-- customers: control characters, direction marks, zero-width characters, blanks at either end. Pure.
create or replace function capacity.is_customer_id(p_text text) returns boolean
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
begin
  return coalesce(length(p_text) <= 200 and p_text ~ '^\S(.*\S)?$'
                  and p_text !~ '[\u0001-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]', false);
end
$$;
comment on function capacity.is_customer_id(text) is 'Whether a text is 1 to 200 printable characters, without blanks at the ends.';
