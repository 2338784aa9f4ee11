-- The active member that a caller names: by id or Slack id, or by the uuid of an account (auth.users), which an identity maps to a member.
create or replace function notify.member_named(p_workspace_id text, p_user_id text) returns text
language sql stable set search_path = pg_catalog, pg_temp
as $$
  select m.id
    from directory.members m
   where m.workspace_id = p_workspace_id and m.active
     and m.id = coalesce((directory.find_member(p_workspace_id, p_user_id)).id,
                         (select min(i.member_id) from directory.identities i
                           where i.workspace_id = p_workspace_id and i.subject = p_user_id
                             and p_user_id ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'
                          having count(distinct i.member_id) = 1));
$$;
comment on function notify.member_named(text, text) is 'The member that a caller names. Nullable: result.';
