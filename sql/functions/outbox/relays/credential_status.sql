-- Which secrets relays are given for which rails, when each was stored, and who has read it; never a value.
create or replace function outbox.credential_status()
returns table (name text, rails text[], stored_at timestamptz, readers jsonb)
language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  with used as (
    select c as name, array_agg(r.name order by r.name) as rails from outbox.rails r cross join unnest(r.credentials) c group by c
  )
  select u.name, u.rails, s.stored_at, s.readers
    from used u
    join headroom.handed_out_to(array(select x.name from used x)) s on s.name = u.name
   order by u.name
$$;
comment on function outbox.credential_status() is 'The secrets that relays use, and who read them. Nullable: stored_at.';
