-- What is wrong with the form of a callback, or null. Strict: an unknown field is a mistake that its author should see. Pure.
create or replace function provisioning.callback_problem(p_sent jsonb) returns text
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
declare
  v_known constant text[] := '{id,workspace,job_id,task,attempt,run_id,run_attempt,signal,step,progress,error,failed_step}';
  v_uuid constant text := '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$';
  v_field text;
  v_max integer;
begin
  select k into v_field from jsonb_object_keys(p_sent) k where k <> all (v_known) order by k limit 1;
  if v_field is not null then
    return format('%s: no such field', left(v_field, 40));
  end if;
  foreach v_field in array array['step', 'failed_step', 'error'] loop
    v_max := case v_field when 'error' then 4000 else 200 end;
    if coalesce(jsonb_typeof(p_sent -> v_field), 'null') not in ('string', 'null') or length(p_sent ->> v_field) > v_max then
      return format('%s: a text of at most %s characters', v_field, v_max);
    elsif p_sent ->> v_field ~ '[\u0001-\u0008\u000b-\u001f\u007f-\u009f]'
          or v_field <> 'error' and p_sent ->> v_field ~ '[\u0009\u000a]' then
      return format('%s: no control characters', v_field);
    end if;
  end loop;
  return case
    when coalesce(p_sent ->> 'id' !~ v_uuid, true) then 'id: a UUID in lower case, new for each callback'
    when coalesce(p_sent ->> 'job_id' !~ v_uuid, true) then 'job_id: a UUID in lower case'
    when coalesce(p_sent ->> 'task' not in ('provision', 'cleanup'), true) then 'task: provision or cleanup'
    when coalesce(p_sent ->> 'signal' not in ('claim', 'heartbeat', 'succeeded', 'failed'), true)
      then 'signal: claim, heartbeat, succeeded or failed'
    when jsonb_typeof(p_sent -> 'attempt') is distinct from 'number' or p_sent ->> 'attempt' !~ '^[1-9][0-9]{0,3}$'
      then 'attempt: a whole number from 1 on'
    when jsonb_typeof(p_sent -> 'run_id') is distinct from 'number' or p_sent ->> 'run_id' !~ '^[1-9][0-9]{0,14}$'
      then 'run_id: the number of the run, of at most 15 digits'
    when jsonb_typeof(p_sent -> 'run_attempt') is distinct from 'number' or p_sent ->> 'run_attempt' !~ '^[1-9][0-9]{0,5}$'
      then 'run_attempt: a whole number from 1 on'
    when coalesce(jsonb_typeof(p_sent -> 'progress'), 'null') not in ('number', 'null') or p_sent ->> 'progress' !~ '^(100|[1-9]?[0-9])$'
      then 'progress: a whole number from 0 to 100'
    when p_sent ->> 'signal' <> 'failed' and p_sent ?| '{error,failed_step}' then 'error, failed_step: only with the signal failed'
  end;
end
$$;
comment on function provisioning.callback_problem(jsonb) is 'What is wrong with a callback. Nullable: result.';
