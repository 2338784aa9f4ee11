-- The form for a note, or for the customer's address and link. Where the button was goes along, since a submission may carry no channel.
-- Pure.
create or replace function inbound.render_follow_up(p_request_id text, p_follow_up text, p_channel text, p_address text) returns jsonb
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
begin
  return jsonb_build_object(
    'type', 'modal', 'callback_id', 'capacity_' || p_follow_up,
    'title', jsonb_build_object('type', 'plain_text', 'text', notify.render_text(p_request_id, 24)),
    'submit', jsonb_build_object('type', 'plain_text', 'text', case p_follow_up when 'note' then 'Add the note' else 'Mail the link' end),
    'close', '{"type": "plain_text", "text": "Back"}'::jsonb,
    'private_metadata', jsonb_strip_nulls(jsonb_build_object('request', left(p_request_id, 40), 'channel', left(p_channel, 32)))::text,
    'blocks', jsonb_build_array(case p_follow_up
      when 'note' then jsonb_build_object(
        'type', 'input', 'block_id', 'note', 'optional', false,
        'label', '{"type": "plain_text", "text": "Note"}'::jsonb,
        'hint', '{"type": "plain_text", "text": "Everybody who may read the request sees it. It decides nothing."}'::jsonb,
        'element', '{"type": "plain_text_input", "action_id": "value", "multiline": true, "min_length": 1, "max_length": 3000}'::jsonb)
      else inbound.render_input('email', 'Customer''s e-mail address', 'email_text_input', false, p_address,
        'The link is mailed to this address. If you change it, the link that was mailed before no longer works.') end));
end
$$;
comment on function inbound.render_follow_up(text, text, text, text)
  is 'The view of the form for a note or for the customer''s address. Nullable: p_channel, p_address.';
