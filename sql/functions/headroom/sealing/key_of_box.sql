-- The key that opens a sealed box, of the two that a process may hold: HEADROOM_SECRET_KEY and, while that is being changed, the previous
-- one. Null when neither fits, the name is another, or the box was changed. Boxes of version 2 name their key; with older ones both are
-- tried.
create or replace function headroom.key_of_box(p_name text, p_box bytea) returns text
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_version integer := case when octet_length(p_box) >= 65 then get_byte(p_box, 0) end;
  v_key text;
begin
  if v_version is null or v_version not in (1, 2) or v_version = 2 and octet_length(p_box) < 73 then
    return null;
  end if;
  foreach v_key in array array[current_setting('headroom.secret_key', true), current_setting('headroom.secret_key_previous', true)] loop
    continue when coalesce(v_key, '') = '' or v_version = 2 and headroom.key_id(v_key) <> substr(p_box, 2, 8);
    if headroom.equal_constant_time(
         substr(p_box, octet_length(p_box) - 31),
         headroom.hmac_sha256(headroom.hmac_sha256(convert_to(v_key, 'UTF8'), 'headroom: authenticate secrets'),
                              convert_to(p_name, 'UTF8') || '\x00'::bytea || substr(p_box, 1, octet_length(p_box) - 32))) then
      return v_key;
    end if;
  end loop;
  return null;
end
$$;
comment on function headroom.key_of_box(text, bytea) is 'The key of this process that opens a box, or null. Nullable: result.';
