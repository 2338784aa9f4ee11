-- The terms of a new request as they are stored, each checked by its own rule before anything is written. A date is in the past only when
-- it is past everywhere on earth, because the requester means their own calendar.
create or replace function capacity.check_terms(p_terms capacity.terms) returns capacity.terms
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_today date := (clock_timestamp() at time zone 'UTC' - interval '12 hours')::date;
  v_wrong text;
begin
  p_terms.justification := nullif(btrim(replace(p_terms.justification, E'\r\n', E'\n'), E' \t\n'), '');
  v_wrong := case
    when p_terms.requested_size is null or p_terms.requested_size !~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,31}$'
      then 'requested_size: up to 32 letters, digits, dots, dashes and underscores, such as 32XL'
    when p_terms.quantity is null or p_terms.quantity not between 1 and 10000 then 'quantity: a whole number from 1 to 10000'
    when p_terms.region is null or p_terms.region !~ '^[a-z0-9-]{2,32}$'
      then 'region: 2 to 32 lower-case letters, digits and dashes, such as us-east-1'
    when p_terms.needed_by_date < v_today then 'needed_by_date: not in the past'
    when p_terms.needed_by_date > v_today + 3650 then 'needed_by_date: within the next ten years'
    when p_terms.expected_duration_days not between 1 and 3650 then 'expected_duration_days: from 1 to 3650'
    when p_terms.estimated_monthly_cost_usd not between 0 and 1000000000000
      or p_terms.estimated_monthly_cost_usd <> round(p_terms.estimated_monthly_cost_usd, 2)
      then 'estimated_monthly_cost_usd: from 0 to 1000000000000, in whole cents'
    when p_terms.confirmation_ttl_days is null or p_terms.confirmation_ttl_days not between 1 and 90
      then 'confirmation_ttl_days: from 1 to 90'
    when p_terms.slack_channel_id !~ '^[A-Z0-9]{2,32}$' then 'slack_channel_id: the id of a channel, such as C024BE91L'
    when p_terms.customer_id is not null and not capacity.is_customer_id(p_terms.customer_id)
      then 'customer_id: 1 to 200 printable characters, without blanks at the ends'
    when length(p_terms.justification) > 2000 or p_terms.justification ~ '[\u0001-\u0008\u000b-\u001f\u007f]'
      then 'justification: up to 2000 characters, without control characters other than tabs and line breaks'
    -- A value that is no address at all only keeps the customer from being asked. Mail would go to this one, but no limit or list would
    -- match it.
    when capacity.is_address(p_terms.customer_ref ->> 'email') and headroom.canonical_address(p_terms.customer_ref ->> 'email') is null
      then 'customer_ref: ' || headroom.address_problem(p_terms.customer_ref ->> 'email')
  end;
  if v_wrong is not null then
    perform headroom.fail('invalid_input', format('The %s of the request is not acceptable.', split_part(v_wrong, ':', 1)), v_wrong,
      'Correct it and submit again. Nothing was written.');
  end if;
  if p_terms.customer_ref is not null then
    perform headroom.check_json(p_terms.customer_ref, 'customer_ref', 8192, 'invalid_input');
  end if;
  return p_terms;
end
$$;
comment on function capacity.check_terms(capacity.terms)
  is 'The terms as they are kept; raises invalid_input unless a request may have them.';
