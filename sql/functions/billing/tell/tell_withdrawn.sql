-- A price was withdrawn: says so on every request that waits at this price, including those under review, because nobody can pay it any
-- more and only a person can submit the request again. Orders that people have not seen yet are left out.
create or replace function billing.tell_withdrawn(p_price billing.prices) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_request capacity.requests;
begin
  for v_request in
    select r.* from capacity.requests r
     where r.workspace_id = p_price.workspace_id and r.state in ('UNDER_REVIEW', 'CUSTOMER_CONFIRMATION_REQUIRED')
       and r.offer ->> 'price_id' = p_price.id::text order by r.id for update
  loop
    continue when capacity.is_quiet(v_request);
    perform billing.tell(v_request.id, format('The price of %s was withdrawn, and can no longer be paid. Cancel the request, and submit it '
      'again: then the current price applies.', v_request.offer ->> 'words'), true, p_price.withdrawn_why);
  end loop;
end
$$;
comment on function billing.tell_withdrawn(billing.prices) is 'Says that requests can no longer be paid at their price.';
