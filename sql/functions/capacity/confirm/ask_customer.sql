-- Asks the customer again, for an actor whom the entrance has verified: at another address (p_email), or with the same link at the known
-- address. A new address gets a new link, and the old link stops working, because a stranger may have it. Unsent mails with the old link
-- are skipped.
create or replace function capacity.ask_customer(p_request capacity.requests, p_actor capacity.actor, p_email text) returns jsonb
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_email text := btrim(p_email, E' \n\t');
  v_standing directory.standing := directory.standing_of(p_request.workspace_id, p_actor.id);
  v_request capacity.requests;
  v_open boolean;
  v_notice capacity.notices;
begin
  perform headroom.refuse(capacity.fixer_refusal(p_request, v_standing));
  if p_email is not null and headroom.address_problem(v_email) is not null then
    perform headroom.fail('invalid_input', headroom.address_problem(v_email), null, 'Nothing was changed.');
  end if;
  select r.* into v_request from capacity.requests r where r.id = p_request.id for update;
  -- An approval may have been committed in between, and after one fewer people may do this.
  perform headroom.refuse(capacity.link_refusal(v_request, directory.standing_of(v_request.workspace_id, p_actor.id), v_email));
  if v_email = (capacity.customer_reach(v_request.id)).address then
    return jsonb_build_object('request_id', v_request.id, 'repeated', true, 'mailed', false, 'next_link_at', null,
                              'customer_unasked', capacity.unasked(v_request.id, v_request.state));
  end if;

  v_open := v_request.state = 'CUSTOMER_CONFIRMATION_REQUIRED';
  if v_open then
    perform outbox.skip(array(select l.outbox_id from capacity.links_of(v_request.id) l where not l.lost and l.outbox_id is not null),
                        p_actor.id, 'The link is sent again.');
    if p_email is not null then
      update capacity.confirmation_tokens t set revoked_at = clock_timestamp() where t.request_id = v_request.id and t.revoked_at is null;
      perform capacity.new_confirmation_token(v_request.id, v_request.next_deadline_at);
    end if;
  end if;
  if p_email is not null then
    perform capacity.record_customer_address(v_request, v_email);
  end if;
  v_notice := capacity.post_notice(v_request, case when p_email is null then 'link' else 'address' end, null, null, p_actor, v_email);
  return jsonb_build_object(
    'request_id', v_request.id, 'repeated', false, 'mailed', 'tell:customer' = any (v_notice.effects),
    'next_link_at', case when v_open then v_notice.created_at + capacity.link_pause() end,
    'customer_unasked', capacity.unasked(v_request.id, v_request.state));
end
$$;
comment on function capacity.ask_customer(capacity.requests, capacity.actor, text)
  is 'Gives a request''s customer another address, or sends the link again. Nullable: p_email.';
