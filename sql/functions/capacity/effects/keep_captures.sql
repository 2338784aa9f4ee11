-- Hook of outbox.captured: copies what deliveries of the workflow captured to where requests can be found by it. The lane's key says
-- which request it is; captures of other streams, and of lanes without a request, are ignored.
create or replace function capacity.keep_captures(p_captures jsonb) returns jsonb
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
begin
  insert into capacity.request_captures as c (request_id, name, value)
  select left(r.key, -length(k.ending)), r.name, r.value #>> '{}'
    from jsonb_to_recordset(p_captures) r(stream text, key text, name text, value jsonb, rail text)
   cross join lateral (select case r.name when 'slack_thread_ts' then ':slack' when 'linear_issue_id' then ':linear' end as ending) k
   where r.stream = 'capacity' and r.rail = ltrim(k.ending, ':') and r.key ~ ('^CR-[0-9]{4}-[0-9]{6,}' || k.ending || '$')
     and r.value #>> '{}' is not null
  on conflict (request_id, name) do update set value = excluded.value;
  return null;
end
$$;
comment on function capacity.keep_captures(jsonb) is 'Keeps captures of the workflow under their requests. Nullable: result.';
