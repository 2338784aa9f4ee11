-- The one template of all mails: blocks as HTML. {"heading"}, {"text"} and {"small"} each hold a text; {"button", "url", and "label" for
-- screen readers} and {"small", "link", "url"} are links. Everything is escaped; only an http or https address, or a placeholder that the
-- sender fills in, becomes a link.
--
-- Made for mail programs: what they strip leaves something readable. Colours are set at each element, and again for readers who prefer dark
-- mode; the sheet is as wide as the screen, at most 600 pixels; nothing is loaded from anywhere, so opening a mail cannot be tracked.
create or replace function notify.email_html(p_title text, p_blocks jsonb) returns text
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
declare
  v_style constant text := '
:root { color-scheme: light dark; supported-color-schemes: light dark; }
body { margin: 0; padding: 0; -webkit-text-size-adjust: 100%; }
a { overflow-wrap: anywhere; }
@media (max-width: 480px) {
  .sheet { padding: 24px 18px !important; border-radius: 0 !important; border-left: 0 !important; border-right: 0 !important; }
  .ground { padding: 0 !important; }
  .button { display: block !important; text-align: center !important; }
}
@media (prefers-color-scheme: dark) {
  body, .ground { background: #14171a !important; }
  .sheet { background: #1e2328 !important; border-color: #3b434b !important; }
  .ink { color: #e9ecef !important; }
  .quiet, .quiet a { color: #b3bdc7 !important; }
  .foot { border-color: #3b434b !important; }
  .button { background: #8ab8ff !important; color: #0d1117 !important; }
}
';
  v_font constant text := 'font-family:-apple-system,BlinkMacSystemFont,''Segoe UI'',Roboto,Helvetica,Arial,sans-serif;';
  v_small constant text := '<p class="quiet" style="margin:0 0 8px;font-size:14px;line-height:20px;color:#55606b;">';
  v_body text := '';
  v_foot text := '';
  v_block jsonb;
  v_url text;
begin
  for v_block in select b from jsonb_array_elements(p_blocks) b loop
    v_url := case when v_block ->> 'url' ~ '^https?://[^\s"<>]+$' or v_block ->> 'url' ~ '^\{\{[a-z_]+\}\}$'
                  then notify.html_text(v_block ->> 'url') end;
    if v_block ? 'heading' then
      v_body := v_body || '<h2 class="ink" style="margin:28px 0 8px;font-size:18px;line-height:26px;font-weight:600;color:#1a1d21;">'
        || notify.html_text(v_block ->> 'heading') || '</h2>';
    elsif v_block ? 'button' and v_url is not null then
      v_body := v_body || '<p style="margin:20px 0 24px;"><a class="button" href="' || v_url || '"'
        || coalesce(' aria-label="' || replace(notify.html_text(v_block ->> 'label'), '<br>', ' ') || '"', '')
        || ' style="display:inline-block;padding:12px 22px;border-radius:6px;background:#0b5cad;color:#ffffff;'
        || 'font-size:16px;line-height:22px;font-weight:600;text-decoration:none;">'
        || notify.html_text(v_block ->> 'button') || '</a></p>';
    elsif v_block ? 'small' then
      v_foot := v_foot || v_small || notify.html_text(v_block ->> 'small')
        || coalesce(' <a href="' || v_url || '" style="color:#55606b;">' || notify.html_text(v_block ->> 'link') || '</a>', '') || '</p>';
    elsif v_block ? 'text' then
      v_body := v_body || '<p class="ink" style="margin:0 0 16px;font-size:16px;line-height:24px;color:#1a1d21;overflow-wrap:anywhere;">'
        || notify.html_text(v_block ->> 'text') || '</p>';
    end if;
  end loop;
  return '<!DOCTYPE html><html lang="en" dir="ltr"><head><meta charset="utf-8">'
    '<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">'
    '<meta name="supported-color-schemes" content="light dark"><title>' || notify.html_text(p_title) || '</title><style>' || v_style
    || '</style></head><body style="margin:0;padding:0;background:#f2f4f6;">'
       '<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0"><tr>'
       '<td class="ground" align="center" style="padding:32px 12px;background:#f2f4f6;">'
       '<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" style="max-width:600px;"><tr>'
       '<td class="sheet" align="left" style="' || v_font
    || 'padding:32px;background:#ffffff;border:1px solid #d8dde3;border-radius:8px;"><main>'
       '<h1 class="ink" style="margin:0 0 20px;font-size:22px;line-height:30px;font-weight:600;color:#1a1d21;overflow-wrap:anywhere;">'
    || notify.html_text(p_title) || '</h1>' || v_body || '</main>'
    || case when v_foot <> '' then '<div class="foot" style="margin-top:24px;padding-top:16px;border-top:1px solid #d8dde3;">' || v_foot
            || '</div>' else '' end
    || '</td></tr></table></td></tr></table></body></html>';
end
$$;
comment on function notify.email_html(text, jsonb) is 'A mail as HTML, from its blocks.';
