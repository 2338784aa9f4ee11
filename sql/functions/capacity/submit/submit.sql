-- Makes a request and submits it, for an actor whom the entrance has verified. The row begins with its terms and version 0; the event
-- carries all of them, and everything else follows from the event. Returns the resulting context, and the story of
-- the submission if messages were made from it.
--
-- With an idempotency key the insert into submissions decides: a second call with the same content gets the first request,
-- even while the first is still in progress, and one with other content is refused. This is checked before the terms,
-- because a repeat must be answered even if its date has passed or the rules have changed. Only the keyed hash of the key is stored, since
-- callers may name somebody in it: it identifies a repeat, also after an erasure.
create or replace function capacity.submit(
  p_actor capacity.actor, p_workspace directory.workspaces, p_terms capacity.terms, p_idempotency_key text,
  out context capacity.context, out story jsonb
)
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_request capacity.requests;
  v_personal capacity.personal_data;
  v_fingerprint bytea;
  v_key text;
  v_earlier capacity.submissions;
  v_good boolean;
  v_payload jsonb;
  v_applied record;
  v_cost_usd numeric;
begin
  v_request.created_at := clock_timestamp();
  v_request.id := capacity.next_request_id(p_workspace.id, v_request.created_at);
  if p_idempotency_key is not null then
    if length(p_idempotency_key) not between 1 and 200 or p_idempotency_key ~ '[[:cntrl:]]' then
      perform headroom.fail('invalid_input', 'An idempotency key has 1 to 200 characters, none of them control characters.');
    end if;
    v_fingerprint := capacity.fingerprint_of(p_actor.id, p_terms);
    v_key := encode(headroom.hmac_sha256(capacity.marking_key(p_workspace.id), convert_to('key:' || p_idempotency_key, 'UTF8')), 'hex');
    insert into capacity.submissions (workspace_id, idempotency_key, request_id, fingerprint)
    values (p_workspace.id, v_key, v_request.id, v_fingerprint)
    on conflict do nothing;
    if not found then
      select * into v_earlier from capacity.submissions s where s.workspace_id = p_workspace.id and s.idempotency_key = v_key;
      if v_earlier.fingerprint <> v_fingerprint then
        perform headroom.fail('idempotency_conflict', 'This idempotency key was used for another request.', left(p_idempotency_key, 80),
          'Send the same content again, or use a new key for a new request. Nothing was written.');
      end if;
      select * into v_request from capacity.requests r where r.id = v_earlier.request_id;
      context := capacity.context_of(v_request, p_actor, null, null);
      return;
    end if;
  end if;

  -- Either the removal of the requester waits for this request, or this finds them removed: what somebody asked for is known when their
  -- account is given to another.
  perform from directory.members m where m.workspace_id = p_workspace.id and m.id = p_actor.id and m.active for key share;
  if not found then
    perform headroom.fail('not_allowed', format('There is no active member "%s" in this workspace.', left(p_actor.id, 64)), null,
                          'An admin adds members to the directory and reactivates them. Nothing was written.');
  end if;
  p_terms := capacity.check_terms(p_terms);
  v_good := capacity.check_channel(p_workspace, p_actor.via, p_terms.slack_channel_id);
  if p_terms.replaces_request_id is not null then
    perform capacity.check_replaced(p_workspace.id, p_actor.id, p_terms.replaces_request_id);
  end if;
  v_request.offer := capacity.offer_for(p_workspace.id, p_terms.requested_size, p_terms.quantity, p_terms.region,
                                        p_terms.expected_duration_days);
  -- The cost is known better than the estimate that somebody typed. Without a value in dollars, it may be any amount.
  v_cost_usd := case when v_request.offer is null then p_terms.estimated_monthly_cost_usd
                     else (v_request.offer ->> 'monthly_usd')::numeric end;
  v_request.review_plan := capacity.review_plan(
    p_workspace.id, p_actor.id, p_terms.commercial_owner_user_id, p_terms.infra_owner_group, p_terms.requested_size, p_terms.quantity,
    p_terms.region, v_cost_usd);
  -- Only the requester has decided anything, and they are not known.
  if p_actor.via = 'self-service' and v_request.review_plan #> '{commercial,auto}' = 'true'
     and v_request.review_plan #> '{technical,auto}' = 'true' then
    v_request.review_plan := v_request.review_plan || '{"quiet": true}';
  end if;
  p_terms.commercial_owner_user_id := v_request.review_plan #>> '{commercial,owner}';
  p_terms.infra_owner_group := v_request.review_plan #>> '{technical,group}';
  p_terms.slack_channel_id := coalesce(p_terms.slack_channel_id, p_workspace.slack_channel_id);

  v_personal := jsonb_populate_record(v_personal, to_jsonb(p_terms));
  if not (v_personal is null) then
    v_personal.request_id := v_request.id;
    v_personal.salt := uuid_send(gen_random_uuid());
    v_request.customer_hash := capacity.personal_hash(v_personal);
  end if;
  v_request := jsonb_populate_record(v_request, to_jsonb(p_terms));
  v_request.workspace_id := p_workspace.id;
  v_request.requester_user_id := p_actor.id;
  v_request.version := 0;
  v_request.state := 'SUBMITTED';
  v_request.state_since := v_request.created_at;
  v_request.updated_at := v_request.created_at;
  with person as (insert into capacity.personal_data select v_personal.* where v_personal.salt is not null)
  insert into capacity.requests values (v_request.*);
  perform capacity.record_customer(v_request.id, p_workspace.id, p_terms.customer_id, p_terms.customer_ref);
  v_payload := jsonb_build_object('workspace_id', p_workspace.id, 'requester_user_id', p_actor.id,
                                  'customer_hash', encode(v_request.customer_hash, 'hex'), 'review_plan', v_request.review_plan)
    || (to_jsonb(p_terms) - 'customer_id' - array(select jsonb_object_keys(to_jsonb(v_personal))));
  if v_request.offer is not null then
    v_payload := v_payload || jsonb_build_object('offer', v_request.offer);
  end if;
  -- The steps of every decision, but without a lock: nobody else can see the row yet.
  context := capacity.context_of(v_request, p_actor, 'REQUEST_SUBMITTED', 'REQUEST_SUBMITTED');
  v_applied := capacity.apply(context, capacity.judge(context), v_payload);
  context.request := v_applied.request;
  story := v_applied.story;
end
$$;
comment on function capacity.submit(capacity.actor, directory.workspaces, capacity.terms, text)
  is 'Makes and submits a request, once per idempotency key. Nullable: story.';
