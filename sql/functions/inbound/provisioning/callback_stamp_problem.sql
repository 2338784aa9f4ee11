-- What is wrong with the time and the form of a callback's signature, before any secret is read; null when nothing is. Five minutes either
-- way: clocks differ.
create or replace function inbound.callback_stamp_problem(p_stamp text, p_signature text) returns text
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
begin
  return case
    when p_stamp is null or p_signature is null then 'The callback is not signed.'
    when p_stamp !~ '^[0-9]{1,12}$' or p_signature !~ '^v1=[0-9a-f]{64}$' then 'The signature of the callback is malformed.'
    when abs(extract(epoch from clock_timestamp()) - p_stamp::bigint) > 300
      then 'The callback was signed too long ago, or by a clock that is wrong.' end;
end
$$;
comment on function inbound.callback_stamp_problem(text, text) is 'What is wrong with a callback''s signature headers. Nullable: result.';
