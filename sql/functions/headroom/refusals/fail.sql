-- The one way in which the workflow says no. The state is PT and an HTTP status, which PostgREST answers with; the detail
-- begins with a code that programs can rely on, since several refusals share a status. Never 40001: that would be retried
-- without end.
create or replace function headroom.fail(p_code text, p_message text, p_facts text default null, p_hint text default null) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_state text := case p_code
    when 'not_signed_in' then 'PT401'
    when 'bad_signature' then 'PT401'
    when 'not_allowed' then 'PT403'
    when 'not_found' then 'PT404'
    when 'stale_version' then 'PT409'
    when 'invalid_transition' then 'PT409'
    when 'idempotency_conflict' then 'PT409'
    when 'conflict' then 'PT409'
    when 'deadline_passed' then 'PT409'
    when 'already_used' then 'PT409'
    when 'gone' then 'PT410'
    when 'nobody_can_approve' then 'PT422'
    when 'too_soon' then 'PT429'
    when 'not_configured' then 'PT503'
    else 'PT400' -- invalid_input, invalid_payload
  end;
  v_detail text := p_code || coalesce(': ' || p_facts, '');
begin
  -- An option of RAISE must not be null.
  if p_hint is null then
    raise exception using errcode = v_state, message = p_message, detail = v_detail;
  end if;
  raise exception using errcode = v_state, message = p_message, detail = v_detail, hint = p_hint;
end
$$;
comment on function headroom.fail(text, text, text, text) is 'Raises a refusal: a sentence for people, a code for programs, and the way out.';
