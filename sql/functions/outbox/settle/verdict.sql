-- Which line an outcome other than "delivered" writes. A row is given up when its tries are used up, and immediately when its outcome is
-- unknown, its rail can prove nothing, and a double would not be harmless. If a double would be harmless, it is sent again only once:
-- p_in_doubt says that an outcome was unknown before.
create or replace function outbox.verdict(
  p_stream outbox.streams, p_outcome text, p_tries integer, p_capability text, p_in_doubt boolean
) returns outbox.attempt_state
language sql immutable set search_path = pg_catalog, pg_temp
as $$
  select case
    when p_outcome = 'released' then 'RELEASED'
    when p_outcome = 'rejected' then 'FAILED'
    when p_tries >= p_stream.max_tries then 'FAILED'
    when p_outcome = 'unknown' and p_capability = 'blind' and (p_in_doubt or not p_stream.resend_blind) then 'FAILED'
    else 'RETRYABLE'
  end::outbox.attempt_state;
$$;
comment on function outbox.verdict(outbox.streams, text, integer, text, boolean)
  is 'The archive state that an undelivered outcome leads to.';
