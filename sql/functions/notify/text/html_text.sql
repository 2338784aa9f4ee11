-- Text from people inside HTML: nothing in it is markup, and its lines stay lines.
create or replace function notify.html_text(p_text text) returns text
language sql immutable set search_path = pg_catalog, pg_temp
as $$
  select replace(replace(replace(replace(replace(replace(
           p_text, '&', '&amp;'), '<', '&lt;'), '>', '&gt;'), '"', '&quot;'), '''', '&#39;'), E'\n', '<br>');
$$;
comment on function notify.html_text(text) is 'A text escaped for HTML. Nullable: p_text, result.';
