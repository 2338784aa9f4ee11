-- Turns what an entrance was passed into a verified actor. A member acts only as themselves. A service or a SQL login names the member for
-- whom it acts, and that member must exist and be active. `system`, `cron` and `customer` have their own entrances; nobody can claim to be
-- one of them.
create or replace function capacity.acting(
  p_actor_type public.capacity_request_actor_type, p_actor_id text, p_workspace_id text
) returns capacity.actor
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_caller record := directory.caller();
  v_member directory.members;
begin
  if v_caller.kind = 'anon' then
    perform headroom.fail('not_signed_in', 'This needs a member who is signed in, or a service key.', null, 'Sign in and try again.');
  elsif p_actor_type is null then
    perform headroom.fail('invalid_input', 'The actor type is missing.', null, 'Pass the actor type "user" and the member''s id.');
  elsif p_actor_type <> 'user' then
    perform headroom.fail('not_allowed', format('Nobody can act as "%s" this way.', p_actor_type), null,
      'Act as a member: actor type "user" and the member''s id.');
  elsif v_caller.kind = 'member' and p_workspace_id <> v_caller.workspace_id then
    perform headroom.fail('not_found', 'There is nothing with that name in your workspace.');
  elsif v_caller.kind <> 'member' and p_actor_id is null then
    perform headroom.fail('invalid_input', 'The actor is missing.', null,
                          'Pass the id or the Slack id of the member for whom this is done.');
  end if;

  v_member := directory.find_member(coalesce(p_workspace_id, v_caller.workspace_id, 'default'), coalesce(p_actor_id, v_caller.member_id));
  if v_caller.kind = 'member' and v_member.id is distinct from v_caller.member_id then
    perform headroom.fail('not_allowed', 'You can act only as yourself.', null, 'Leave the actor out, or pass your own member id.');
  elsif v_member.id is null or not v_member.active then
    perform headroom.fail('not_allowed', format('There is no active member "%s" in this workspace.', left(p_actor_id, 64)), null,
      'An admin adds members to the directory and reactivates them.');
  end if;
  return row('user', v_member.id, v_caller.via)::capacity.actor;
end
$$;
comment on function capacity.acting(public.capacity_request_actor_type, text, text)
  is 'The actor of a call through an entrance, or a refusal.';
