-- A mail from its paragraphs. A paragraph that is only the placeholder of a link becomes a button with our own words on it; the last one,
-- the sender, is small. `to` is checked before anything names this effect, so it is only copied here.
create or replace function notify.email_letter(
  p_to text, p_subject text, p_paragraphs text[], p_link text default 'Confirm or decline'
) returns jsonb
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
declare
  v_subject text := notify.email_text(p_subject, 200);
begin
  return jsonb_build_object(
    'to', p_to, 'subject', v_subject,
    'text', array_to_string(p_paragraphs, E'\n\n') || E'\n',
    'html', notify.email_html(v_subject, (
      select jsonb_agg(case when p ~ '^\{\{[a-z_]+\}\}$' then jsonb_build_object('button', p_link, 'url', p)
                            when n = cardinality(p_paragraphs) then jsonb_build_object('small', p)
                            else jsonb_build_object('text', p) end order by n)
        from unnest(p_paragraphs) with ordinality e(p, n) where p is not null)));
end
$$;
comment on function notify.email_letter(text, text, text[], text) is 'The payload of a mail.';
