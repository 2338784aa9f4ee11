-- Hook of notify.bounced: mail to a request's customer does not arrive. This tells the people who can reach them another way, and the
-- requester. While an answer is awaited, the timers also post it in the request's thread, with the remedy (capacity.timer_unasked).
create or replace function capacity.customer_bounced(p_bounced jsonb) returns jsonb
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_request capacity.requests;
begin
  select r.* into v_request from capacity.requests r
   where p_bounced ->> 'recipient_kind' = 'customer' and r.id = p_bounced ->> 'recipient'
     and r.workspace_id = p_bounced ->> 'workspace_id';
  if not found then
    return null;
  end if;
  return jsonb_build_object('tell', case
    when v_request.state = 'CUSTOMER_CONFIRMATION_REQUIRED' then '[]'
    else to_jsonb(capacity.active_of(v_request.workspace_id,
                                     v_request.requester_user_id || capacity.fixers(v_request, 'mail_failed'))) end);
end
$$;
comment on function capacity.customer_bounced(jsonb) is 'The people to tell that mail to a customer does not arrive. Nullable: result.';
