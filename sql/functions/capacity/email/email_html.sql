-- The mail as HTML, from the same paragraphs as the plain text. Everything is escaped first; then the one placeholder becomes the
-- link that the sender fills in, with our own words on it.
create or replace function capacity.email_html(p_paragraphs text[], p_link text) returns text
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
declare
  v_html text := '';
  v_paragraph text;
begin
  foreach v_paragraph in array p_paragraphs loop
    v_html := v_html || '<p>' || replace(replace(replace(replace(replace(replace(
      v_paragraph, '&', '&amp;'), '<', '&lt;'), '>', '&gt;'), '"', '&quot;'), '''', '&#39;'), E'\n', '<br>') || '</p>';
  end loop;
  return replace(v_html, '{{confirmation_link}}', '<a href="{{confirmation_link}}">' || p_link || '</a>');
end
$$;
comment on function capacity.email_html(text[], text) is 'Paragraphs of a mail as HTML.';
