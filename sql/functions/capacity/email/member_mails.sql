-- The side effects that are mails to these members, for where no thread can be pinged. Who has no address gets none.
create or replace function capacity.member_mails(p_workspace_id text, p_member_ids text[]) returns text[]
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
begin
  return array(select 'email:member:' || m.id from directory.members m
                where m.workspace_id = p_workspace_id and m.id = any (p_member_ids) and m.email is not null order by m.id limit 20);
end
$$;
comment on function capacity.member_mails(text, text[]) is 'Names of side effects that are mails to members.';
