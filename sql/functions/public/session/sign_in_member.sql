-- The member of an account at an identity provider. Our server calls this once it has verified the provider's token; nobody else can. It
-- uses a link that an admin made, or makes one now by a domain rule, from an address that the issuer calls verified. Signing in adds
-- nobody to the directory.
create or replace function public.sign_in_member(
  p_issuer text, p_subject text, p_email text default null, p_email_verified boolean default false
) returns jsonb
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_identity directory.identities;
  v_member directory.members;
begin
  perform directory.require_purpose('sign_in');
  perform directory.check_issuer(p_issuer);
  select i.* into v_identity from directory.identities i where i.issuer = p_issuer and i.subject = p_subject;
  if v_identity.subject is null and p_email_verified and length(p_subject) between 1 and 255 and p_subject !~ '[[:cntrl:]]' then
    v_identity := directory.link_by_domain(p_issuer, p_subject, p_email);
  end if;
  select m.* into v_member from directory.members m where m.workspace_id = v_identity.workspace_id and m.id = v_identity.member_id
    and m.active;
  if v_member.id is null then
    perform headroom.fail('not_allowed', 'Your account is not linked to an active member of a workspace.', null,
      'Ask an admin of the workspace to link it: headroom members identity add');
  end if;
  return jsonb_build_object('workspace_id', v_member.workspace_id, 'member_id', v_member.id,
    'signed_in_at', extract(epoch from clock_timestamp()));
end
$$;
comment on function public.sign_in_member(text, text, text, boolean) is 'The member who a verified account is, for our own server.';
