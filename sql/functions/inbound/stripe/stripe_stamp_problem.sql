-- What is wrong with the form and the time of Stripe's signature, before any secret is read; null when nothing is. Five minutes either way:
-- clocks differ.
create or replace function inbound.stripe_stamp_problem(p_signature text) returns text
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_stamp text := substring(p_signature from '(?:^|,)t=([0-9]{1,12})(?:,|$)');
begin
  return case
    when p_signature is null then 'The request is not signed.'
    when length(p_signature) > 2000 or v_stamp is null or p_signature !~ '(^|,)v1=[0-9a-f]{64}(,|$)'
      then 'The signature of the request is malformed.'
    when abs(extract(epoch from clock_timestamp()) - v_stamp::bigint) > 300
      then 'The request was signed too long ago, or by a clock that is wrong.' end;
end
$$;
comment on function inbound.stripe_stamp_problem(text) is 'What is wrong with Stripe''s signature header. Nullable: result.';
