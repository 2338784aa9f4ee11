-- Decodes one part of a form: first every plus is a space, then each %XX is a byte, and the bytes are UTF-8.
-- Anything else is refused. The text is split at percent signs and joined as a whole, since a loop over characters takes
-- seconds for a large payload.
create or replace function inbound.percent_decode(p_text text) returns text
language plpgsql immutable strict parallel safe set search_path = pg_catalog, pg_temp
as $$
declare
  v_text text := replace(p_text, '+', ' ');
  v_hex text;
begin
  if strpos(v_text, '%') = 0 then
    return v_text;
  elsif v_text ~ '%(?![0-9A-Fa-f]{2})' then
    perform headroom.fail('invalid_input', 'The form is not encoded correctly.', 'a percent sign without two hexadecimal digits');
  end if;
  select string_agg(case when p.nth = 1 then encode(convert_to(p.part, 'UTF8'), 'hex')
                         else substr(p.part, 1, 2) || encode(convert_to(substr(p.part, 3), 'UTF8'), 'hex') end, '' order by p.nth)
    into v_hex
    from unnest(string_to_array(v_text, '%')) with ordinality p(part, nth);
  return convert_from(decode(v_hex, 'hex'), 'UTF8');
exception when character_not_in_repertoire or untranslatable_character then
  perform headroom.fail('invalid_input', 'The form is not encoded correctly.', 'bytes that are not UTF-8, or a NUL');
end
$$;
comment on function inbound.percent_decode(text)
  is 'One name or value of a form, decoded; raises invalid_input if it is malformed.';
