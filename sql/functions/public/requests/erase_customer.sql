-- Erases all data about a request's customer, permanently: customer_ref, what people wrote about the request in their own words, and
-- the outgoing messages that may quote either, each with the salt of its hash. Events, notices and the archive hold only the salted
-- hashes, so the chain stays intact and can still be verified.
--
-- Unsent mail to the customer and messages that were given up are skipped, then erased like those that were delivered.
-- Messages on their way through another rail are left to arrive: the erasure is recorded, and the sweep finishes it. Calling again
-- reports the progress; who erased first, when and why is kept. Anything added since the first call is erased by the next one.
create or replace function public.erase_customer(p_request_id text, p_why text, p_actor_id text default null) returns jsonb
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_found record := capacity.request_for(p_request_id, p_actor_id);
  v_request capacity.requests := v_found.request;
  v_actor capacity.actor := v_found.actor;
  v_why text := btrim(p_why, E' \n\t');
begin
  if v_why is null or length(v_why) not between 1 and 2000 then
    perform headroom.fail('invalid_input', 'Give the reason for the erasure in 1 to 2000 characters.', null,
                          'It is kept with the erasure forever. Do not name the customer in it.');
  elsif not exists (select from directory.members m where m.workspace_id = v_request.workspace_id and m.id = v_actor.id and m.active
                      and 'admin' = any (m.roles)) then
    perform headroom.fail('not_allowed', 'Only an admin of the workspace may erase a customer''s data.');
  end if;

  -- Nothing about the request is sent in the meantime, and everything before has an earlier time.
  perform from capacity.requests r where r.id = v_request.id for update;
  insert into capacity.erasures as x (request_id, requested_at, requested_by, via, why, covers_to, tried_at)
  values (v_request.id, clock_timestamp(), v_actor.id, v_actor.via, v_why, clock_timestamp(), clock_timestamp())
  on conflict (request_id) do update set covers_to = excluded.covers_to;
  perform capacity.erase_step(v_request.id);
  return capacity.erasure_state(v_request.id);
end
$$;
comment on function public.erase_customer(text, text, text)
  is 'Erases a request''s customer data, free texts and the messages that may quote them; the chain stays verifiable.';
