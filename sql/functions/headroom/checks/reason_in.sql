-- A person's reason for an act, as it is stored: readable text, on any number of lines. A line break is stored as one character, however it
-- was sent.
create or replace function headroom.reason_in(p_reason text) returns text
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
declare
  v_reason text := btrim(regexp_replace(p_reason, E'\r\n?', E'\n', 'g'), E' \n\t');
begin
  if coalesce(length(v_reason), 0) not between 1 and 2000 or v_reason !~ '[^\s\u00a0\u200b-\u200f\u2028-\u202f\u2060\ufeff]'
     or v_reason ~ '[\u0001-\u0008\u000b-\u001f\u007f-\u009f]' then
    perform headroom.fail('invalid_input', 'This needs a reason: 1 to 2000 characters, none of them control characters.', null,
                          'Nothing was changed.');
  end if;
  return v_reason;
end
$$;
comment on function headroom.reason_in(text) is 'A person''s reason, if it is readable.';
