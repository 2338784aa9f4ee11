-- Why the capacity is needed, in somebody's own words, which can be erased as the customer can.
alter type capacity.terms add attribute justification text;
alter table capacity.personal_data add column justification text;

-- These take it.
drop function if exists public.create_capacity_request(
  text, text, text, jsonb, text, integer, text, date, integer, numeric, integer, text, text, text, text, text);
drop function if exists public.preview_capacity_request(
  text, text, text, text, integer, text, numeric, text, text, jsonb, text, integer);
