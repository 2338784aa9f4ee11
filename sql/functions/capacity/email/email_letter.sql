-- A mail from its parts. `to` is checked before anything names this effect, so here it is copied.
create or replace function capacity.email_letter(
  p_to text, p_subject text, p_paragraphs text[], p_link text default 'Confirm or decline'
) returns jsonb
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
begin
  return jsonb_build_object(
    'to', p_to, 'subject', capacity.email_text(p_subject, 200),
    'text', array_to_string(p_paragraphs, E'\n\n') || E'\n', 'html', capacity.email_html(p_paragraphs, p_link));
end
$$;
comment on function capacity.email_letter(text, text, text[], text) is 'The payload of a mail.';
