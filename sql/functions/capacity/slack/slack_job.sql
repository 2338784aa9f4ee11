-- The state of provisioning, as a line of the root message; null for a request without a job. The name of a step is text from
-- others: it is formatted as code, so that it cannot look like text of ours.
create or replace function capacity.slack_job(p_story jsonb) returns text
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
declare
  v_job jsonb := p_story -> 'job';
begin
  if jsonb_typeof(v_job) is distinct from 'object' then
    return null;
  end if;
  return concat(
    case v_job ->> 'state' when 'running' then ':white_check_mark: ' when 'failed' then ':warning: ' when 'given_up' then ':x: '
         when 'cancelled' then ':heavy_minus_sign: ' else ':hourglass_flowing_sand: ' end,
    '*Provisioning*: ', v_job ->> 'words',
    case when (v_job ->> 'attempt')::integer > 0 then format(' (attempt %s of %s)', v_job ->> 'attempt', v_job ->> 'most_attempts') end,
    ', `' || replace(notify.slack_text(regexp_replace(v_job ->> 'step', '\s+', ' ', 'g'), 200), '`', '''') || '`',
    ', ' || (v_job ->> 'progress') || ' %',
    case v_job ->> 'cleanup' when 'under_way' then '. Cleaning up' when 'failed' then '. The cleanup failed' end);
end
$$;
comment on function capacity.slack_job(jsonb) is 'The state of a request''s job, as Slack markup. Nullable: result.';
