-- What happens to the customer's money when a request fails, as the end of a sentence; empty for a request that costs nothing.
create or replace function provisioning.money_words(p_request_id text) returns text
language sql stable set search_path = pg_catalog, pg_temp
as $$
  select case when r.offer is not null then ', and what was paid goes back to the customer' else '' end
    from capacity.requests r where r.id = p_request_id;
$$;
comment on function provisioning.money_words(text) is 'What happens to money when a request fails.';
