-- What can be ordered in a workspace: the sizes, regions and durations that have a price now; durations are those of the chosen size and
-- region. A price without a region applies to all regions, so then any region may be typed. Names that only rules mention are not shown to
-- visitors.
create or replace function billing.draft_choices(p_workspace_id text, p_terms jsonb) returns jsonb
language sql stable set search_path = pg_catalog, pg_temp
as $$
  with prices as (
    select p.size, p.region, p.duration_days, p.unit_amount from billing.prices p
     where p.workspace_id = p_workspace_id and p.valid_from <= now() and p.withdrawn_at is null),
  chosen as (
    select p.duration_days from prices p
     where upper(p.size collate "C") = upper((p_terms ->> 'size') collate "C")
       and (p.region is null or p.region = p_terms ->> 'region'))
  select jsonb_build_object(
    -- S, M, L: among names of the same length the cheaper one comes first, as far as amounts can be compared.
    'sizes', (select coalesce(jsonb_agg(s.size order by length(s.size), s.least, s.size), '[]')
                from (select min(p.size) as size, min(p.unit_amount) as least from prices p
                       group by upper(p.size collate "C") limit 200) s),
    'regions', (select coalesce(jsonb_agg(r.region order by r.region), '[]')
                  from (select distinct p.region from prices p where p.region is not null limit 200) r),
    'any_region', exists (select from prices p where p.region is null),
    'durations', (select coalesce(jsonb_agg(d.duration_days order by d.duration_days), '[]')
                    from (select distinct c.duration_days from chosen c where c.duration_days is not null limit 50) d),
    'any_duration', exists (select from chosen c where c.duration_days is null));
$$;
comment on function billing.draft_choices(text, jsonb) is 'The sizes, regions and durations that have a price.';
