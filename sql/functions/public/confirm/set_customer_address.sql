-- Sets or replaces the e-mail address of a request's customer. While the customer should be asked, the link is mailed to it
-- immediately, and the old link is no longer valid. The submitted address stays in customer_ref, whose hash is in the log.
create or replace function public.set_customer_address(p_request_id text, p_email text, p_actor_id text default null) returns jsonb
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_found record := capacity.request_for(p_request_id, p_actor_id);
begin
  return capacity.ask_customer(v_found.request, v_found.actor, coalesce(p_email, ''));
end
$$;
comment on function public.set_customer_address(text, text, text)
  is 'Sets the e-mail address of a request''s customer, and mails the link while an answer is awaited.';
