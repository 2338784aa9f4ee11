-- Refuses a row with times that cannot be used in arithmetic.
create or replace function outbox.check_times(p_not_before timestamptz, p_expires_at timestamptz) returns void
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
begin
  if not (coalesce(headroom.is_moment(p_not_before), true) and coalesce(headroom.is_moment(p_expires_at), true)) then
    perform headroom.fail('invalid_input', 'The times of a row must be in the years 1 to 9999.', null,
      'Leave out not_before for a row that may go at once, and expires_at for one that does not expire. Nothing was written.');
  end if;
end
$$;
comment on function outbox.check_times(timestamptz, timestamptz)
  is 'Refuses times that cannot be used in arithmetic. Nullable: p_not_before, p_expires_at.';
