-- What happened, in a sentence or two: the same words on every surface. Reasons and notes are other people's words and are quoted
-- separately.
create or replace function capacity.story_sentence(p_story jsonb) returns text
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
declare
  v_event text := p_story ->> 'event';
  v_actor text := case p_story ->> 'actor_type'
    when 'user' then coalesce(p_story #>> array['people', p_story ->> 'actor', 'name'], p_story ->> 'actor', 'somebody')
    when 'customer' then 'The customer' else 'Headroom' end;
  v_behalf boolean := p_story ->> 'on_behalf' = 'customer';
  v_step text;
  v_until text;
  v_unasked text;
begin
  if p_story ->> 'state' = 'CUSTOMER_CONFIRMATION_REQUIRED' then
    v_until := coalesce(capacity.render_time(p_story -> 'deadline'), 'the deadline');
    -- Replaces the deadline of a customer who does not know of it.
    v_unasked := capacity.unasked_words(p_story ->> 'unasked', p_story ->> 'state') || ' Without an answer the request expires on '
      || v_until || '. '
      || capacity.unasked_remedy(p_story ->> 'unasked', p_story ->> 'id', p_story ->> 'state', p_story ->> 'offer' is not null);
  end if;
  if v_event is null then
    return case p_story ->> 'notice'
      when 'warning' then coalesce(v_unasked, 'The customer has until ' || v_until || ' to answer; after that the request expires.')
      when 'unasked' then coalesce(v_unasked, 'The mail with the customer''s link was not delivered.')
      when 'address' then concat_ws(' ', v_actor || ' set the customer''s e-mail address'
                                         || case when p_story -> 'mailed' = 'true'
                                                 then ': the link is on its way, and a link that was mailed before no longer works.'
                                                 else '.' end,
                                    v_unasked)
      when 'link' then v_actor || ' sent the customer''s link again.'
      when 'late' then format('The %s review is late: it should take %s hours, and has been open since %s.', p_story ->> 'step',
                              p_story ->> 'sla_hours', coalesce(capacity.render_time(p_story -> 'step_since'), 'its beginning'))
      when 'nudge' then v_actor || ' asks for a decision.'
      else coalesce(p_story ->> 'said', v_actor || ' notes:') end;
  elsif v_event in ('COMMERCIAL_APPROVED', 'TECH_REVIEW_APPROVED') then
    v_step := case v_event when 'COMMERCIAL_APPROVED' then 'commercial' else 'technical' end;
    return case when p_story -> 'counts' = 'false' then v_actor || ' endorsed the request; the approval of a higher authority is needed.'
                when p_story ->> 'actor_type' = 'user' then v_actor || ' approved the ' || v_step || ' review.'
                else 'The ' || v_step || ' review was approved by a rule.' end
      || case when p_story ->> 'state' = 'CUSTOMER_CONFIRMATION_REQUIRED'
              then ' ' || coalesce(v_unasked, 'The customer has until ' || v_until || ' to '
                              || coalesce('pay ' || capacity.story_price(p_story), 'confirm') || '.')
              when p_story -> 'counts' = 'false' then ''
              else ' The ' || case v_step when 'commercial' then 'technical' else 'commercial' end || ' review is still open.' end;
  end if;
  return case v_event
    when 'REQUEST_SUBMITTED' then v_actor || ' asks for ' || (p_story ->> 'what') || '.'
    when 'COMMERCIAL_REJECTED' then v_actor || ' rejected the request in the commercial review.'
    when 'TECH_REVIEW_REJECTED' then v_actor || ' rejected the request in the technical review.'
    when 'CUSTOMER_CONFIRMED' then case when v_behalf then v_actor || ' recorded that the customer confirmed.'
                                        when p_story ->> 'actor_type' = 'system'
                                          then coalesce('The customer paid ' || (p_story #>> '{offer,words}') || '.',
                                                        'The customer''s payment confirmed the request.')
                                        else 'The customer confirmed.' end || ' Provisioning begins.'
    when 'CUSTOMER_DECLINED' then case when v_behalf then v_actor || ' recorded that the customer declined.'
                                       else 'The customer declined.' end
    when 'CUSTOMER_CONFIRMATION_TIMEOUT' then coalesce(capacity.unasked_words(p_story ->> 'unasked', 'EXPIRED')
                                                       || ' The request has expired.',
                                                       'The customer did not answer in time: the request has expired.')
    when 'PROVISIONING_COMPLETE' then 'Provisioning is complete.'
    when 'PROVISIONING_FAILED' then 'Provisioning failed.'
    else v_actor || ' cancelled the request.' end;
end
$$;
comment on function capacity.story_sentence(jsonb) is 'What happened, in words.';
