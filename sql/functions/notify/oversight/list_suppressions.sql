-- Addresses to which no mail goes: since when, why, and whose they are if a member has such an address. Of others only the hash is
-- known. Newest first; on request also those that were lifted.
create or replace function notify.list_suppressions(
  p_workspace_id text default null, p_lifted boolean default false, p_limit integer default 50
) returns table (
  workspace_id text, mark text, member_id text, reason text, said text, since timestamptz, lifted_at timestamptz, lifted_by text
)
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  if p_limit is null or p_limit not between 1 and 10000 then
    perform headroom.fail('invalid_input', 'A list has 1 to 10000 addresses.');
  end if;
  return query
  with listed as materialized (
    select s.* from notify.suppressions s
     where (p_workspace_id is null or s.workspace_id = p_workspace_id) and (p_lifted or s.lifted_at is null)
     order by s.since desc limit p_limit
  ), known as materialized (
    select m.workspace_id, m.id, notify.address_mark(m.workspace_id, m.email) as mark from directory.members m
     where m.email is not null and m.workspace_id in (select l.workspace_id from listed l)
  )
  select l.workspace_id, encode(l.address_mark, 'hex'), (select min(k.id) from known k
                                                          where k.workspace_id = l.workspace_id and k.mark = l.address_mark),
         l.reason, l.said, l.since, l.lifted_at, l.lifted_by
    from listed l order by l.since desc;
end
$$;
comment on function notify.list_suppressions(text, boolean, integer)
  is 'Addresses to which no mail goes. Nullable: member_id, said, lifted_at, lifted_by.';
