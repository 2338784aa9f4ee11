-- Sizes are compared under "C": in other collations upper() may make one size of two, and not the same ones on every server.
drop index billing.prices_find;
create index prices_find on billing.prices (workspace_id, upper(size collate "C"), valid_from desc);

-- What somebody said about mail to their address goes on counting where the address is hashed otherwise from now on: where lower() changed
-- more than ASCII letters, or where it has no canonical form and is compared as it stands. Only addresses that are known can be hashed
-- again. The query is planned only where there are hashes, and so the functions: a new database has none of both.
do $$
begin
  if exists (select from notify.address_keys) then
    with again as (
      select distinct a.workspace_id, o.mark as old, n.mark as new
        from (select m.workspace_id, m.email as address from directory.members m
              union
              select t.workspace_id, t.address from notify.notifications t) a
        join notify.address_keys k on k.workspace_id = a.workspace_id
       cross join lateral (select case
         when a.address ~ '^[A-Za-z0-9!#$%&''*+/=?^_`{|}~-]+(\.[A-Za-z0-9!#$%&''*+/=?^_`{|}~-]+)*@([A-Za-z0-9-]+\.)*[A-Za-z][A-Za-z0-9-]*$'
           then lower(a.address collate "C") else a.address end as form) f
       cross join lateral (select headroom.hmac_sha256(k.key, convert_to(lower(btrim(a.address)), 'UTF8')) as mark) o
       cross join lateral (select headroom.hmac_sha256(k.key, convert_to(f.form, 'UTF8')) as mark) n
       where f.form <> lower(btrim(a.address))
    ), suppressed as (
      insert into notify.suppressions (workspace_id, address_mark, reason, said, since)
      select s.workspace_id, g.new, s.reason, s.said, s.since
        from again g join notify.suppressions s on s.workspace_id = g.workspace_id and s.address_mark = g.old and s.lifted_at is null
      on conflict do nothing
    )
    insert into notify.preferences (workspace_id, whose, category, channel, choice, updated_at)
    select p.workspace_id, 'address:' || encode(g.new, 'hex'), p.category, p.channel, p.choice, p.updated_at
      from again g join notify.preferences p on p.workspace_id = g.workspace_id and p.whose = 'address:' || encode(g.old, 'hex')
    on conflict do nothing;
  end if;
end
$$;
