-- A time that Slack shows to each reader in their own time zone, with UTC as the fallback. It accepts the same times as render_time()
-- and uses the same words; it is repeated here for speed, because every message has a time.
create or replace function capacity.slack_time(p_seconds jsonb) returns text
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
begin
  return case when jsonb_typeof(p_seconds) = 'number' and p_seconds::numeric between -62135596800 and 253402300799
    then '<!date^' || trunc(p_seconds::numeric) || '^{date_short_pretty} {time}|'
         || to_char(timestamp '1970-01-01' + p_seconds::numeric * interval '1 s', 'YYYY-MM-DD HH24:MI "UTC"') || '>' end;
end
$$;
comment on function capacity.slack_time(jsonb) is 'A time as Slack markup. Nullable: result.';
