-- Why a member may not have the customer's link sent now, or null: to another address (p_email), or again to the known one. An address that
-- is known already is accepted, and nothing is sent.
--
-- At least ten minutes between two of these mails, and at most ten per request, so that nobody can flood a mailbox by naming it.
create or replace function capacity.link_refusal(p_request capacity.requests, p_standing directory.standing, p_email text)
returns headroom.refusal
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_max constant integer := 10;
  v_refusal headroom.refusal := capacity.fixer_refusal(p_request, p_standing);
  v_reach record := capacity.customer_reach(p_request.id);
  v_open boolean := p_request.state = 'CUSTOMER_CONFIRMATION_REQUIRED';
  v_again timestamptz;
  v_sent bigint;
begin
  if v_refusal.code is not null then
    return v_refusal;
  elsif v_reach.problem = 'erased' then
    return row('conflict', 'The data of this request''s customer was erased.', p_request.id,
               'Submit a new request to ask anybody again. Nothing was changed.')::headroom.refusal;
  elsif p_request.state not in ('SUBMITTED', 'UNDER_REVIEW', 'CUSTOMER_CONFIRMATION_REQUIRED') then
    return row('conflict', format('The request is %s: its customer can no longer be asked.', capacity.story_state(p_request.state::text)),
               p_request.id, 'Nothing was changed.')::headroom.refusal;
  elsif v_open and p_request.next_deadline_at <= clock_timestamp() then
    return row('deadline_passed', 'The time for the customer''s answer has passed.', p_request.id,
               'Submit a new request. Nothing was changed.')::headroom.refusal;
  elsif p_email is null and not v_open then
    return row('conflict', 'The link is sent automatically once both reviews are done.', p_request.id,
               'Nothing was changed.')::headroom.refusal;
  elsif p_email is null and v_reach.problem is not null then
    return row('conflict', capacity.unasked_words(v_reach.problem, p_request.state::text), p_request.id,
               capacity.unasked_remedy(v_reach.problem, p_request.id, p_request.state::text, p_request.offer is not null)
              )::headroom.refusal;
  elsif not v_open or p_email = v_reach.address then
    return null;
  end if;

  -- The first mail counts only when the same link is sent again: a wrong address or a lost mail may be corrected immediately.
  select max(l.asked_at) filter (where not l.lost and (p_email is null or l.notice_id is not null)) + capacity.link_pause(),
         count(*) filter (where l.notice_id is not null)
    into v_again, v_sent from capacity.links_of(p_request.id) l;
  if v_sent >= v_max then
    return row('conflict', format('The link of this request was already sent again %s times, which is the limit.', v_max), p_request.id,
               case when p_request.offer is null then 'Record the customer''s answer, or cancel' else 'Cancel' end
                 || ' the request and submit another. Nothing was changed.')::headroom.refusal;
  elsif v_again > clock_timestamp() then
    return row('too_soon', 'The link was mailed a short while ago.',
               format('again in %s seconds', ceil(extract(epoch from v_again - clock_timestamp()))),
               'Wait a little, then try again. Nothing was changed.')::headroom.refusal;
  end if;
  return null;
end
$$;
comment on function capacity.link_refusal(capacity.requests, directory.standing, text)
  is 'Why a member may not have the customer''s link sent now. Nullable: p_standing, p_email, result.';
