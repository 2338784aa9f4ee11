-- Records that a timer failed on one request, and skips that request for a while, longer each time. The others continue.
create or replace function capacity.timer_failed(p_request_id text, p_timer text, p_error_code text, p_message text) returns jsonb
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_failure capacity.timer_failures;
begin
  insert into capacity.timer_failures as f (request_id, timer, error_code, message, retry_at)
  values (p_request_id, p_timer, p_error_code, left(p_message, 500), now() + interval '1 minute')
  on conflict (request_id, timer) do update
     set failures = f.failures + 1, error_code = excluded.error_code, message = excluded.message, last_at = now(),
         retry_at = now() + least(interval '1 minute' * 2 ^ least(f.failures, 12), interval '6 hours')
  returning * into v_failure;
  return jsonb_build_object('request_id', p_request_id, 'timer', p_timer, 'code', p_error_code, 'message', v_failure.message,
                            'failures', v_failure.failures, 'retry_at', v_failure.retry_at);
end
$$;
comment on function capacity.timer_failed(text, text, text, text) is 'Notes that a timer failed on a request, and when it is tried again.';
