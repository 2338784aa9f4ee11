-- Stops mails of the kind that the link came with, to its recipient. The holder of the link can do this, undo it (public.resubscribe),
-- and nothing else; a repeat changes nothing.
create or replace function public.unsubscribe(p_token text) returns jsonb
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_found notify.notifications := notify.find_unsubscribe(p_token);
begin
  perform notify.stop_mails(v_found, (notify.stoppable(v_found)).categories);
  return public.describe_unsubscribe(p_token);
end
$$;
comment on function public.unsubscribe(text) is 'Stops mails of the kind that a link came with.';
