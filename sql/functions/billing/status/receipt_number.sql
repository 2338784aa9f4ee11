-- The number of a receipt: the end of the payment's id, which is random in every kind of id and by which people find the payment. Pure.
create or replace function billing.receipt_number(p_payment_id uuid) returns text
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
begin
  return upper(right(p_payment_id::text, 12) collate "C");
end
$$;
comment on function billing.receipt_number(uuid) is 'The number of a payment''s receipt.';
