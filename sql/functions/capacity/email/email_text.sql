-- Somebody's text in a mail: on one line where it could end a header, and never a placeholder that the sender would fill in.
create or replace function capacity.email_text(p_text text, p_most integer) returns text
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
begin
  return capacity.render_text(regexp_replace(translate(left(p_text, p_most + 1), E'\r\n\t', '   '), '\{(?=\{)', '{ ', 'g'), p_most);
end
$$;
comment on function capacity.email_text(text, integer) is 'A text fit for one line of a mail. Nullable: result.';
