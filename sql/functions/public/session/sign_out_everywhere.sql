-- Ends all of the member's browser sessions. API keys stay; they are revoked one by one.
create or replace function public.sign_out_everywhere() returns void
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_caller record := directory.caller();
begin
  if v_caller.kind <> 'member' then
    perform headroom.fail('not_signed_in', 'You are not signed in as a member.', null, 'Sign in and try again.');
  end if;
  update directory.members m set signed_out_at = clock_timestamp()
   where m.workspace_id = v_caller.workspace_id and m.id = v_caller.member_id;
end
$$;
comment on function public.sign_out_everywhere() is 'Ends the browser sessions of the member who is signed in.';
