-- The request and checkout of a Checkout session, by its id or by our metadata. If the checkout already has another session, this is not
-- its session, and only the request is known. Null if it is not ours.
create or replace function billing.find_session(p_session jsonb, out request_id text, out checkout_id uuid)
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_id text := p_session ->> 'id';
begin
  select c.request_id, c.id into request_id, checkout_id from billing.checkouts c where c.session_id = v_id;
  if checkout_id is null then
    select c.request_id, c.id into request_id, checkout_id
      from billing.sessions s join billing.checkouts c on c.id = s.checkout_id where s.session_id = v_id;
  end if;
  if checkout_id is null and billing.is_ours(p_session) then
    select r.id into request_id from capacity.requests r where r.id = p_session #>> '{metadata,headroom_request}';
    select c.id into checkout_id from billing.checkout_named(p_session) c
     where c.request_id = find_session.request_id and c.session_id is null
       and not exists (select from billing.sessions s where s.checkout_id = c.id);
  end if;
end
$$;
comment on function billing.find_session(jsonb) is 'The request and checkout of a Checkout session. Nullable: request_id, checkout_id.';
