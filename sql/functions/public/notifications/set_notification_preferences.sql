-- Changes how a member wants to be notified; either all of the changes or none if one is refused. Fields not named keep their values.
create or replace function public.set_notification_preferences(
  p_changes jsonb, p_member_id text default null, p_workspace_id text default null
) returns jsonb
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_member directory.members := notify.person_for(p_member_id, p_workspace_id);
begin
  perform headroom.check_changes(p_changes, array['time_zone', 'quiet_from', 'quiet_until', 'digest_at', 'choices']);
  if jsonb_typeof(p_changes -> 'choices') <> 'object' then
    perform headroom.fail('invalid_input', 'Choices are an object of categories.', null,
                          'Such as {"reviews": {"email": "digest"}}. Nothing was changed.');
  end if;
  if p_changes - 'choices' <> '{}' then
    perform notify.choose_when(v_member, p_changes - 'choices');
  end if;
  perform notify.choose_what(v_member, coalesce(p_changes -> 'choices', '{}'));
  return notify.preferences_of(v_member);
end
$$;
comment on function public.set_notification_preferences(jsonb, text, text)
  is 'Changes how a member wants to be notified; the caller by default. Nullable: p_member_id, p_workspace_id.';
