-- The one mail of the wizard, with the link to the last step. Anyone can have it sent to any address, so it contains nothing that the
-- visitor wrote, only choices from our own list and a number. A region that was typed, because a price applies to all regions, is left out.
-- The link is not in the payload either: the sender makes it from draft_id when it sends the mail, and puts it in place of {{draft_link}}.
create or replace function billing.draft_letter(p_draft billing.drafts) returns jsonb
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_workspace directory.workspaces;
  v_listed boolean := billing.draft_choices(p_draft.workspace_id, '{}') -> 'regions' ? (p_draft.terms ->> 'region');
  v_what text := format('%s × %s', p_draft.terms ->> 'quantity', p_draft.terms ->> 'size')
                 || case when v_listed then ' in ' || (p_draft.terms ->> 'region') else '' end;
  v_letter jsonb;
begin
  select w.* into v_workspace from directory.workspaces w where w.id = p_draft.workspace_id;
  v_letter := notify.email_letter(
    p_draft.terms ->> 'email',
    'Your order at ' || v_workspace.name || ': one step left',
    array[
      'Hello,',
      format('somebody, probably you, wants to order this from %s and gave your address:', notify.email_text(v_workspace.name, 200)),
      'Capacity: ' || v_what,
      'Please check the order and send it with this link:',
      '{{draft_link}}',
      format('The link is for you alone. Opening it orders nothing. It works until %s.', capacity.render_time(
        to_jsonb(extract(epoch from p_draft.expires_at)))),
      'If this was not you, do nothing: nothing is ordered, and you get no further mail.',
      notify.email_text(v_workspace.name, 200)],
    'Check and order');
  return v_letter || jsonb_build_object(
    'draft_id', p_draft.id, 'draft_base_url', rtrim(v_workspace.public_url, '/') || '/new/' || v_workspace.id);
end
$$;
comment on function billing.draft_letter(billing.drafts) is 'The payload of the mail with the link to the last step of the wizard.';
