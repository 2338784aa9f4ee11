-- The single decision on who may do what. The actor, which every entrance establishes first, says who somebody is. Their standing says what
-- they are (active, roles, groups, whose delegate); it is read once the request is locked. Whose approval is needed was fixed at
-- submission. Pure.
--
-- Where there is a price, paying is the confirmation. So only the system records it, once it knows of a payment, and only the system judges
-- whether it came in time: a payment that was being processed at the deadline counts.
--
-- counts is false for an approval below the needed authority: it is recorded as an endorsement, and the authority decides.
create or replace function capacity.authorize(
  p_actor capacity.actor,
  p_standing directory.standing,
  p_request capacity.requests,
  p_event_type public.capacity_request_event_type,
  p_now timestamptz,
  out allowed boolean,
  out counts boolean,
  out code text,
  out reason text
)
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
declare
  v_roles text[] := p_standing.roles;
  v_authority jsonb;
  v_own text;
begin
  allowed := false;
  counts := true;
  code := 'not_allowed';
  if p_event_type in ('CUSTOMER_CONFIRMED', 'CUSTOMER_DECLINED') and p_actor.type <> 'system'
     and p_request.next_deadline_at <= p_now then
    code := 'deadline_passed';
    reason := 'The time for the customer''s answer has passed.';
    return;
  end if;

  if p_actor.type <> 'user' then
    allowed := case p_actor.type
      when 'customer' then p_event_type in ('CUSTOMER_CONFIRMED', 'CUSTOMER_DECLINED')
      when 'cron' then p_event_type = 'CUSTOMER_CONFIRMATION_TIMEOUT'
                       and (p_request.next_deadline_at is null or p_request.next_deadline_at <= p_now)
      else case p_event_type
             when 'COMMERCIAL_APPROVED' then p_request.review_plan #> '{commercial,auto}' = 'true'
             when 'TECH_REVIEW_APPROVED' then p_request.review_plan #> '{technical,auto}' = 'true'
             else p_event_type in ('CUSTOMER_CONFIRMED', 'PROVISIONING_COMPLETE', 'PROVISIONING_FAILED')
           end
    end;
    allowed := coalesce(allowed, false);
    if allowed and p_actor.type = 'customer' and p_event_type = 'CUSTOMER_CONFIRMED' and p_request.offer is not null then
      allowed := false;
      code := 'payment_due';
      reason := 'Paying is the confirmation: follow the link in the mail, and choose to review and pay.';
      return;
    end if;
    reason := case when p_actor.type = 'cron' and p_event_type = 'CUSTOMER_CONFIRMATION_TIMEOUT'
                     then 'The customer still has time to answer.'
                   else format('An actor of type %s cannot record %s.', p_actor.type, p_event_type) end;
    return;
  end if;

  if p_standing.member_id is null or p_standing.workspace_id <> p_request.workspace_id then
    reason := 'Only active members of the workspace can act on its requests.';
    return;
  end if;

  if p_event_type in ('TECH_REVIEW_APPROVED', 'TECH_REVIEW_REJECTED') then
    allowed := coalesce(p_request.infra_owner_group = any (p_standing.groups), false);
    reason := 'Only a member of the infra group gives the technical review.';
  elsif p_event_type in ('COMMERCIAL_APPROVED', 'COMMERCIAL_REJECTED') then
    v_authority := p_request.review_plan #> '{commercial,authority}';
    if v_authority ->> 'kind' = 'role' then
      allowed := v_authority ->> 'role' = any (v_roles);
    elsif v_authority ->> 'kind' = 'member' then
      allowed := v_authority ->> 'member' = p_actor.id or capacity.stands_in_for(p_request, v_authority ->> 'member', p_standing);
    end if;
    if not allowed then
      allowed := capacity.acts_as_owner(p_request, p_standing);
      counts := p_event_type = 'COMMERCIAL_REJECTED' or v_authority ->> 'kind' = 'owner';
    end if;
    reason := 'Only the commercial owner, the needed authority, or the delegate of one of them who is away gives the commercial review.';
  elsif p_event_type in ('CUSTOMER_CONFIRMED', 'CUSTOMER_DECLINED') then
    allowed := capacity.acts_as_owner(p_request, p_standing);
    reason := 'Only the customer, or the commercial owner on their behalf, answers the offer.';
    -- Otherwise an owner could ask for capacity and accept it too, and the customer would never know.
    v_own := capacity.own_refusal(p_request, p_standing, 'You cannot answer the offer of your own request on the customer''s behalf.');
    if v_own is not null then
      allowed := false;
      reason := v_own;
    elsif allowed and p_event_type = 'CUSTOMER_CONFIRMED' and p_request.offer is not null then
      allowed := false;
      code := 'payment_due';
      reason := 'Paying is the confirmation: only the customer can give it, by the link in their mail, which you can have sent again.';
    end if;
    return;
  elsif p_event_type = 'CANCEL_APPROVED' then
    allowed := p_actor.id = p_request.requester_user_id or 'admin' = any (v_roles);
    reason := 'Only the requester or an admin cancels a request.';
    return;
  elsif p_event_type in ('PROVISIONING_COMPLETE', 'PROVISIONING_FAILED') then
    allowed := v_roles && array['operator', 'admin'];
    reason := 'Only an operator or an admin records how provisioning ended.';
    return;
  elsif p_event_type = 'REQUEST_SUBMITTED' then
    allowed := p_actor.id = p_request.requester_user_id;
    reason := 'Only the requester submits a request.';
    return;
  elsif p_event_type = 'CUSTOMER_CONFIRMATION_TIMEOUT' then
    reason := 'Only a timer expires the customer''s answer.';
    return;
  end if;

  -- A review, here: nobody reviews their own request, in whatever capacity.
  v_own := capacity.own_refusal(p_request, p_standing, 'You cannot review your own request.');
  if v_own is not null then
    allowed := false;
    reason := v_own;
  end if;
end
$$;
comment on function capacity.authorize(
  capacity.actor, directory.standing, capacity.requests, public.capacity_request_event_type, timestamptz)
  is 'Whether this actor may do this on this request, whether it counts, and else why not. Nullable: p_standing, code, reason.';
