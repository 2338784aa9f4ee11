-- Text from people in a mail: on one line where it could end a header, and never a placeholder that the sender would fill in.
create or replace function notify.email_text(p_text text, p_most integer) returns text
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
begin
  -- Nearly every text needs no change, and a message consists of many.
  if octet_length(p_text) <= p_most and p_text !~ '[^\u0020-\u007a\u007c-\u007e\u00a0-\u02ff]' then
    return p_text;
  end if;
  return notify.render_text(regexp_replace(translate(left(p_text, p_most + 1), E'\r\n\t', '   '), '\{(?=\{)', '{ ', 'g'), p_most);
end
$$;
comment on function notify.email_text(text, integer) is 'A text fit for one line of a mail. Nullable: result.';
