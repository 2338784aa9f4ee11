-- Undoes what the link at the end of a mail stopped: a customer has no page of preferences, and nobody else knows what they stopped.
create or replace function public.resubscribe(p_token text) returns jsonb
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_found notify.notifications := notify.find_unsubscribe(p_token);
begin
  perform notify.resume_mails(v_found, (notify.stoppable(v_found)).categories);
  return public.describe_unsubscribe(p_token);
end
$$;
comment on function public.resubscribe(text) is 'Lets mails of the kind that a link came with go out again.';
