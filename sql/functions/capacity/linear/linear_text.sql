-- Text by others inside Markdown: characters that would make a link, an image, a heading or a mention are escaped.
create or replace function capacity.linear_text(p_text text, p_most integer) returns text
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
begin
  return regexp_replace(notify.render_text(p_text, p_most), '([\\`*_\[\]<>#!|~@])', '\\\1', 'g');
end
$$;
comment on function capacity.linear_text(text, integer) is 'A text escaped for Markdown. Nullable: result.';
