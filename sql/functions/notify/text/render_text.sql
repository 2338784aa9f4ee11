-- Text from people, prepared for display: without control characters and marks that turn the direction of writing, and cut to what the
-- surface takes. Length is counted as JavaScript counts it, because the surfaces' limits are in these units; so a character beyond
-- U+FFFF counts twice. A cut never leaves half an emoji: a character that is joined to the next one is cut with it.
create or replace function notify.render_text(p_text text, p_most integer) returns text
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
declare
  v_unwanted constant text := '[\u0001-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]';
  v_wide constant text := '[^\U00010000-\U0010ffff]';
  v_joined constant text := '[\u0300-\u036f\u200d\u20e3\ufe00-\ufe0f\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]';
  v_flags constant text := '[\U0001f1e6-\U0001f1ff]*$';
  v_text text := p_text;
  v_next text;
begin
  if octet_length(p_text) <= p_most and p_text !~ v_unwanted then
    return p_text;
  end if;
  -- Text beyond twice the limit is never shown, so it is not processed.
  v_text := regexp_replace(left(p_text, 2 * p_most), v_unwanted, ' ', 'g');
  if length(v_text) + length(regexp_replace(v_text, v_wide, '', 'g')) <= p_most then
    return v_text;
  end if;

  v_text := left(v_text, p_most - 1);
  v_text := left(v_text, p_most - 1 - length(regexp_replace(v_text, v_wide, '', 'g')));
  v_next := substr(p_text, length(v_text) + 1, 1);
  -- At most sixty-four: some scripts pile up marks without limit, and then something has to be cut.
  for i in 1..64 loop
    exit when v_next !~ v_joined and right(v_text, 1) <> U&'\200D';
    v_next := right(v_text, 1);
    v_text := left(v_text, -1);
  end loop;
  if v_next ~ '^[\U0001f1e6-\U0001f1ff]' and length(substring(v_text from v_flags)) % 2 = 1 then
    v_text := left(v_text, -1);
  end if;
  return v_text || '…';
end
$$;
comment on function notify.render_text(text, integer)
  is 'A text cleaned of control characters and cut to a number of UTF-16 units. Nullable: result.';
