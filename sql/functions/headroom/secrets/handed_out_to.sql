-- Whether secrets of these names were stored through headroom.set_secret(), and when; and which logins were given each. Never their values.
create or replace function headroom.handed_out_to(p_names text[])
returns table (name text, stored_at timestamptz, readers jsonb)
language sql stable set search_path = pg_catalog, pg_temp
as $$
  select n.name, b.updated_at,
         coalesce((select jsonb_agg(jsonb_build_object('login', h.login, 'last_at', h.last_at, 'times', h.times) order by h.last_at desc)
                     from headroom.handed_out h where h.name = n.name), '[]')
    from unnest(p_names) n(name)
    left join headroom.boxes b on b.name = n.name
$$;
comment on function headroom.handed_out_to(text[]) is 'When secrets were stored, and to whom they were handed out. Nullable: stored_at.';
