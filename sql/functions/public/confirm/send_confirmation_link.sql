-- Mails the customer's link again, to the known address. It is the same link, which works once.
create or replace function public.send_confirmation_link(p_request_id text, p_actor_id text default null) returns jsonb
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_found record := capacity.request_for(p_request_id, p_actor_id);
begin
  return capacity.ask_customer(v_found.request, v_found.actor, null);
end
$$;
comment on function public.send_confirmation_link(text, text)
  is 'Mails the customer the link of a request again, some time after the last mail.';
