-- What is wrong with the two headers that sign a request of Slack, as far as they tell by themselves; null when nothing is. Their form is
-- looked at before anything is made of them, so that garbage gets an answer and not a cast error. Needs no secret and no lock, which is
-- why the gate before every request can ask it.
create or replace function inbound.slack_stamp_problem(p_timestamp text, p_signature text) returns text
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
begin
  return case
    when p_signature is null or p_timestamp is null then 'The request is not signed.'
    when p_signature !~ '^v0=[0-9a-f]{64}$' or p_timestamp !~ '^[0-9]{1,12}$' then 'The signature of the request is malformed.'
    when abs(extract(epoch from clock_timestamp()) - p_timestamp::bigint) > 300
      then 'The request was signed too long ago, or by a clock that is wrong.'
  end;
end
$$;
comment on function inbound.slack_stamp_problem(text, text) is 'What is wrong with the headers of a signed request. Nullable: result.';
