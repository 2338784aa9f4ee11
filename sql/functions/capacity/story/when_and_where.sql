-- When something happened, and through which entrance, at the end of a sentence: a person who lost a race sees by how much.
create or replace function capacity.when_and_where(p_at timestamptz, p_via text, p_now timestamptz default clock_timestamp()) returns text
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_seconds integer := greatest(0, floor(least(extract(epoch from p_now - p_at), 1000000)));
begin
  return concat_ws(', ',
    case when v_seconds = 1 then '1 second ago'
         when v_seconds < 120 then v_seconds || ' seconds ago'
         when v_seconds < 7200 then v_seconds / 60 || ' minutes ago'
         else 'on ' || capacity.render_time(to_jsonb(extract(epoch from p_at))) end,
    case when p_via = 'slack' then 'in Slack'
         when p_via = 'linear' then 'in Linear'
         when p_via = 'web' then 'in the browser'
         when p_via = 'api' then 'over the API'
         when p_via = 'link' then 'by the customer''s link'
         when starts_with(p_via, 'cli:') then 'at the command line'
         when starts_with(p_via, 'service:') then 'by a service' end);
end
$$;
comment on function capacity.when_and_where(timestamptz, text, timestamptz)
  is 'When something happened, and through which entrance, in words. Nullable: p_via.';
