-- Erases what is known about a request's customer, for good: customer_ref with the salt of its hash, and the outgoing
-- messages that may quote it. The events hold only the salted hash, so the chain stays whole and can still be verified.
--
-- Mail that has not left and messages that were given up are skipped, then erased like those that were delivered. What is still
-- on its way through another rail is left to arrive and counted as `waiting`; calling again later erases that too. A second call
-- changes nothing else: who erased first, when and why stands.
create or replace function public.erase_customer(p_request_id text, p_why text, p_actor_id text default null) returns jsonb
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_found record := capacity.request_for(p_request_id, p_actor_id);
  v_request capacity.requests := v_found.request;
  v_actor capacity.actor := v_found.actor;
  v_why text := btrim(p_why, E' \n\t');
  v_erased capacity.personal_data;
  v_messages jsonb;
begin
  if v_why is null or length(v_why) not between 1 and 2000 then
    perform capacity.fail('invalid_input', 'Say in 1 to 2000 characters why this is erased.', null, 'It stands beside the erasure for ever. Name no customer in it.');
  elsif not exists (select from capacity.members m where m.workspace_id = v_request.workspace_id and m.id = v_actor.id and m.active and 'admin' = any (m.roles)) then
    perform capacity.fail('not_allowed', 'Only an admin of the workspace may erase a customer''s data.');
  end if;

  -- Nothing is sent about the request meanwhile.
  perform from capacity.requests r where r.id = v_request.id for update;
  insert into capacity.personal_data as d (request_id, erased_at, erased_by, erased_why) values (v_request.id, clock_timestamp(), v_actor.id, v_why)
  on conflict (request_id) do update
     set salt = null, customer_ref = null, erased_at = coalesce(d.erased_at, excluded.erased_at),
         erased_by = coalesce(d.erased_by, excluded.erased_by), erased_why = coalesce(d.erased_why, excluded.erased_why)
  returning d.* into v_erased;
  -- The fingerprint of the submission is a hash without salt, from which a customer could be guessed.
  update capacity.submissions s set fingerprint = sha256(uuid_send(gen_random_uuid())) where s.request_id = v_request.id;
  v_messages := capacity.erase_messages(v_request.id, v_actor.id, v_why);
  return jsonb_build_object('request_id', v_request.id, 'erased_at', v_erased.erased_at, 'erased_by', v_erased.erased_by, 'messages', v_messages);
end
$$;
comment on function public.erase_customer(text, text, text) is 'Erases a request''s customer data and the messages that may quote it; the chain stays verifiable.';
