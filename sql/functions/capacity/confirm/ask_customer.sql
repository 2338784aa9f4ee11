-- Asks the customer again, for an actor whom the entrance has verified: at another address (p_email), or with the same link at the known
-- address. A new address gets a new link, and the old link stops working, because a stranger may have it. Unsent mails with the old link
-- are skipped.
--
-- At least ten minutes between two of these mails, and at most ten per request, so that nobody can flood a mailbox by naming it.
create or replace function capacity.ask_customer(p_request capacity.requests, p_actor capacity.actor, p_email text) returns jsonb
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_every constant interval := interval '10 minutes';
  v_max constant integer := 10;
  v_email text := btrim(p_email, E' \n\t');
  v_request capacity.requests;
  v_reach record;
  v_open boolean;
  v_last timestamptz;
  v_sent bigint;
  v_notice capacity.notices;
begin
  perform capacity.check_fixer(p_request, p_actor);
  if p_email is not null and headroom.address_problem(v_email) is not null then
    perform headroom.fail('invalid_input', headroom.address_problem(v_email), null, 'Nothing was changed.');
  end if;
  select r.* into v_request from capacity.requests r where r.id = p_request.id for update;
  -- An approval may have been committed in between, and after one fewer people may do this.
  perform capacity.check_fixer(v_request, p_actor);
  v_reach := capacity.customer_reach(v_request.id);
  v_open := v_request.state = 'CUSTOMER_CONFIRMATION_REQUIRED';
  if v_reach.problem = 'erased' then
    perform headroom.fail('conflict', 'The data of this request''s customer was erased.', v_request.id,
                          'Submit a new request to ask anybody again. Nothing was changed.');
  elsif v_request.state not in ('SUBMITTED', 'UNDER_REVIEW', 'CUSTOMER_CONFIRMATION_REQUIRED') then
    perform headroom.fail('conflict', format('The request is %s: its customer can no longer be asked.',
                                             capacity.story_state(v_request.state::text)), v_request.id,
      'Nothing was changed.');
  elsif v_open and v_request.next_deadline_at <= clock_timestamp() then
    perform headroom.fail('deadline_passed', 'The time for the customer''s answer has passed.', v_request.id,
                          'Submit a new request. Nothing was changed.');
  elsif p_email is null and not v_open then
    perform headroom.fail('conflict', 'The link is sent automatically once both reviews are done.', v_request.id, 'Nothing was changed.');
  elsif p_email is null and v_reach.problem is not null then
    perform headroom.fail('conflict', capacity.unasked_words(v_reach.problem, v_request.state::text), v_request.id,
      capacity.unasked_remedy(v_reach.problem, v_request.id, v_request.state::text, v_request.offer is not null));
  elsif v_email = v_reach.address then
    return jsonb_build_object('request_id', v_request.id, 'repeated', true, 'mailed', false, 'next_link_at', null,
                              'customer_unasked', capacity.unasked(v_request.id, v_request.state));
  end if;

  if v_open then
    -- The first mail counts only when the same link is sent again: a wrong address or a lost mail may be corrected immediately.
    select max(l.asked_at) filter (where not l.lost and (p_email is null or l.notice_id is not null)),
           count(*) filter (where l.notice_id is not null)
      into v_last, v_sent from capacity.links_of(v_request.id) l;
    if v_sent >= v_max then
      perform headroom.fail('conflict', format('The link of this request was already sent again %s times, which is the limit.', v_max),
                            v_request.id,
        case when v_request.offer is null then 'Record the customer''s answer, or cancel' else 'Cancel' end
          || ' the request and submit another. Nothing was changed.');
    elsif v_last + v_every > clock_timestamp() then
      perform headroom.fail('too_soon', 'The link was mailed a short while ago.',
        format('again in %s seconds', ceil(extract(epoch from v_last + v_every - clock_timestamp()))),
        'Wait a little, then try again. Nothing was changed.');
    end if;
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
    'next_link_at', case when v_open then v_notice.created_at + v_every end,
    'customer_unasked', capacity.unasked(v_request.id, v_request.state));
end
$$;
comment on function capacity.ask_customer(capacity.requests, capacity.actor, text)
  is 'Gives a request''s customer another address, or sends the link again. Nullable: p_email.';
