-- The form for a note, or for the customer's address and link. Pure.
create or replace function inbound.render_follow_up(p_request_id text, p_follow_up text, p_channel text, p_address text) returns jsonb
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
begin
  return inbound.render_modal(
    'capacity_' || p_follow_up, p_request_id, case p_follow_up when 'note' then 'Add the note' else 'Mail the link' end, 'Back',
    jsonb_build_object('request', left(p_request_id, 40), 'channel', left(p_channel, 32)),
    case p_follow_up
      when 'note' then inbound.render_input('note', 'Note', 'text_area', false, p_most => 3000,
        p_hint => 'Everybody who may read the request sees it. It decides nothing.')
      else inbound.render_input('email', 'Customer''s e-mail address', 'email_text_input', false, p_address,
        'The link is mailed to this address. If you change it, the link that was mailed before no longer works.') end);
end
$$;
comment on function inbound.render_follow_up(text, text, text, text)
  is 'The view of the form for a note or for the customer''s address. Nullable: p_channel, p_address.';
