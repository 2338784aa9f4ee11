-- Erases what recently removed members were told or chose in transactions that were still open when they were removed: no notification
-- waits for a removal. Returns how many members.
create or replace function notify.forget_removed(p_most integer) returns integer
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_member record;
  v_count integer := 0;
begin
  for v_member in
    select m.workspace_id, m.id from directory.members m
     where not m.active and m.signed_out_at > clock_timestamp() - interval '1 day'
       and (exists (select from notify.notifications n where n.workspace_id = m.workspace_id and n.recipient_kind = 'member'
                       and n.recipient = m.id and n.erased_at is null)
            or exists (select from notify.people p where p.workspace_id = m.workspace_id and p.member_id = m.id)
            or exists (select from notify.preferences p where p.workspace_id = m.workspace_id and p.whose = 'member:' || m.id))
     order by m.workspace_id, m.id limit p_most
       -- A member who comes back at this moment keeps the choices that they make then.
       for no key update of m skip locked
  loop
    perform notify.forget_member(jsonb_build_object('workspace_id', v_member.workspace_id, 'member_id', v_member.id));
    v_count := v_count + 1;
  end loop;
  return v_count;
end
$$;
comment on function notify.forget_removed(integer) is 'Erases what was left of members who were removed; how many members.';
