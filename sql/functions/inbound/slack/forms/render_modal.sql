-- A form. Its metadata says what it is about and where it was opened, since its submission may carry no channel.
create or replace function inbound.render_modal(
  p_form text, p_title text, p_submit text, p_close text, p_metadata jsonb, variadic p_blocks jsonb[]
) returns jsonb
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
begin
  return jsonb_build_object(
    'type', 'modal', 'callback_id', p_form, 'title', notify.slack_plain(notify.render_text(p_title, 24)),
    'submit', notify.slack_plain(p_submit), 'close', notify.slack_plain(p_close),
    'private_metadata', jsonb_strip_nulls(p_metadata)::text, 'blocks', notify.slack_blocks(to_jsonb(p_blocks), 100));
end
$$;
comment on function inbound.render_modal(text, text, text, text, jsonb, jsonb[]) is 'The view of a form.';
