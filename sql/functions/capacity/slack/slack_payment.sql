-- The state of a request's payment, as a line of the root message; null for a request without a price.
create or replace function capacity.slack_payment(p_story jsonb) returns text
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
declare
  v_payment jsonb := p_story -> 'payment';
begin
  if jsonb_typeof(v_payment) is distinct from 'object' then
    return null;
  end if;
  return concat(
    case v_payment ->> 'state' when 'paid' then ':white_check_mark: ' when 'refunded' then ':leftwards_arrow_with_hook: '
      when 'disputed' then ':warning: ' when 'refund_held' then ':warning: '
      when 'held' then ':warning: ' when 'processing' then ':hourglass_flowing_sand: ' end,
    '*Payment*: ', v_payment ->> 'words');
end
$$;
comment on function capacity.slack_payment(jsonb) is 'The state of a request''s payment, as Slack markup. Nullable: result.';
