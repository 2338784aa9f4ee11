-- Why money is refunded, in words.
create or replace function billing.reason_words(p_reason text) returns text
language sql immutable set search_path = pg_catalog, pg_temp
as $$
  select coalesce((select r.meaning from billing.refund_reasons() r where r.reason = p_reason), 'for another reason');
$$;
comment on function billing.reason_words(text) is 'A reason for a refund, in words.';
