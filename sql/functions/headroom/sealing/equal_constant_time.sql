-- Whether two values are equal, in a time that depends only on their length: where they differ must not be measurable.
-- Lengths are not secret. Null equals nothing.
create or replace function headroom.equal_constant_time(p_left bytea, p_right bytea) returns boolean
language plpgsql immutable parallel safe set search_path = pg_catalog, pg_temp
as $$
declare
  v_difference integer := 0;
begin
  if p_left is null or p_right is null or octet_length(p_left) <> octet_length(p_right) then
    return false;
  end if;
  for i in 0..octet_length(p_left) - 1 loop
    v_difference := v_difference | (get_byte(p_left, i) # get_byte(p_right, i));
  end loop;
  return v_difference = 0;
end
$$;
comment on function headroom.equal_constant_time(bytea, bytea)
  is 'Whether two values are equal; the time taken does not show where they differ.';
