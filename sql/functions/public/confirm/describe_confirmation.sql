-- What the confirmation page shows. Changes nothing, whoever asks and however often: mail scanners follow links.
create or replace function public.describe_confirmation(p_token text) returns jsonb
language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
begin
  return capacity.confirmation_story(capacity.find_confirmation(p_token));
end
$$;
comment on function public.describe_confirmation(text) is 'The offer behind a confirmation link and what became of it.';
