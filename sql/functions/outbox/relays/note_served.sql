-- Notes that these rails are served now. Half a minute is exact enough, and a row that another relay is updating at this moment is left to
-- it: a sign of life waits for no lock.
create or replace function outbox.note_served(p_rails text[]) returns void
language sql volatile set search_path = pg_catalog, pg_temp
as $$
  update outbox.rails r set served_at = now()
   where r.rail_id in (
         select x.rail_id from outbox.rails x
          where x.name = any (p_rails) and coalesce(x.served_at < now() - interval '30 seconds', true)
            for no key update skip locked);
$$;
comment on function outbox.note_served(text[]) is 'Notes that a relay serves these rails.';
