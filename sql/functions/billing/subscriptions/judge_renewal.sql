-- Whether a renewal counts (null), or why it is refunded. Pure; the documentation is generated from a table of its answers.
--
-- p_bought: its subscription is the one that the request has bought. p_after: it was charged after that subscription had ended. A request
-- that has ended keeps no money, whenever that was charged.
create or replace function billing.judge_renewal(p_state text, p_bought boolean, p_after boolean) returns text
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
begin
  return case
    when p_state = 'FAILED' then 'failed'
    when p_state = 'EXPIRED' then 'late'
    when p_state in ('CANCELLED', 'REJECTED') then 'cancelled'
    when not p_bought then 'unmatched'
    when p_after then 'ended' end;
end
$$;
comment on function billing.judge_renewal(text, boolean, boolean) is 'Why a renewal is refunded, or null when it counts. Nullable: result.';
