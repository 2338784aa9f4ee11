-- Hook of notify.bounced: mail to a request's customer does not arrive. Whoever can reach them another way is told, and the requester;
-- while an answer is waited for, the timers say so in the request's thread, with what to do (capacity.timer_unasked).
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
comment on function capacity.customer_bounced(jsonb) is 'Says who is told that mail to a customer does not arrive. Nullable: result.';
