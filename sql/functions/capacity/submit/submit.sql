-- Makes a request and submits it, for an actor whom the entrance has verified. The row begins with its terms and version 0; the event
-- carries all of them, and everything else follows from the event. Answers with what is known of the request then, and with the story of
-- the submission, where messages were made of it.
--
-- With an idempotency key the insert into submissions decides: a second call with the same content gets the first request,
-- also while the first is still under way, and one with other content is refused. That is asked before the terms are checked,
-- because a repeat must be answered also when its date has passed or the rules have changed. Of the key its keyed hash is kept, since
-- callers may name somebody in it: a repeat is known by that, also after an erasure.
create or replace function capacity.submit(
  p_actor capacity.actor, p_workspace directory.workspaces, p_commercial_owner_user_id text, p_infra_owner_group text, p_customer_ref jsonb,
  p_requested_size text, p_quantity integer, p_region text, p_needed_by_date date, p_expected_duration_days integer,
  p_estimated_monthly_cost_usd numeric, p_confirmation_ttl_days integer, p_slack_channel_id text, p_idempotency_key text,
  p_replaces_request_id text, p_customer_id text default null, out context capacity.context, out story jsonb
)
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_request capacity.requests;
  v_content jsonb;
  v_fingerprint bytea;
  v_key text;
  v_earlier capacity.submissions;
  v_salt bytea;
  v_good boolean;
  v_applied record;
  v_cost_usd numeric := p_estimated_monthly_cost_usd;
begin
  v_request.created_at := clock_timestamp();
  v_request.id := capacity.next_request_id(p_workspace.id, v_request.created_at);
  if p_idempotency_key is not null then
    if length(p_idempotency_key) not between 1 and 200 or p_idempotency_key ~ '[[:cntrl:]]' then
      perform headroom.fail('invalid_input', 'An idempotency key has 1 to 200 characters, none of them control characters.');
    end if;
    v_content := jsonb_build_array(
      p_actor.id, p_commercial_owner_user_id, p_infra_owner_group, p_customer_ref, p_requested_size, p_quantity, p_region,
      p_needed_by_date,
      p_expected_duration_days, trim_scale(p_estimated_monthly_cost_usd), p_confirmation_ttl_days, p_slack_channel_id,
      p_replaces_request_id);
    -- Only where it is given, so that what was submitted before there were ids has the fingerprint that it had.
    if p_customer_id is not null then
      v_content := v_content || to_jsonb(p_customer_id);
    end if;
    v_fingerprint := sha256(convert_to(v_content::text, 'UTF8'));
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

  -- A removal of whoever asks waits for this request, or this finds them gone: what somebody asked for is known when their account is given
  -- to another.
  perform from directory.members m where m.workspace_id = p_workspace.id and m.id = p_actor.id and m.active for key share;
  if not found then
    perform headroom.fail('not_allowed', format('There is no active member "%s" in this workspace.', left(p_actor.id, 64)), null,
                          'An admin adds members to the directory and reactivates them. Nothing was written.');
  end if;
  v_good := capacity.check_terms(p_customer_ref, p_requested_size, p_quantity, p_region, p_needed_by_date, p_expected_duration_days,
                                 p_estimated_monthly_cost_usd, p_confirmation_ttl_days, p_slack_channel_id, p_customer_id);
  v_good := capacity.check_channel(p_workspace, p_actor.via, p_slack_channel_id);
  if p_replaces_request_id is not null then
    perform capacity.check_replaced(p_workspace.id, p_actor.id, p_replaces_request_id);
  end if;
  v_request.offer := capacity.offer_for(p_workspace.id, p_requested_size, p_quantity, p_region, p_expected_duration_days);
  -- What it costs is known better than what somebody typed, also where its worth in dollars is not: that may then be anything.
  if v_request.offer is not null then
    v_cost_usd := (v_request.offer ->> 'monthly_usd')::numeric;
  end if;
  v_request.review_plan := capacity.review_plan(p_workspace.id, p_actor.id, p_commercial_owner_user_id, p_infra_owner_group,
                                                p_requested_size, p_quantity, p_region, v_cost_usd);
  -- Nobody decides about it but the one who asked, and they are not known.
  if p_actor.via = 'self-service' and v_request.review_plan #> '{commercial,auto}' = 'true'
     and v_request.review_plan #> '{technical,auto}' = 'true' then
    v_request.review_plan := v_request.review_plan || '{"quiet": true}';
  end if;
  v_request.commercial_owner_user_id := v_request.review_plan #>> '{commercial,owner}';
  v_request.infra_owner_group := v_request.review_plan #>> '{technical,group}';
  v_request.slack_channel_id := coalesce(p_slack_channel_id, p_workspace.slack_channel_id);
  if p_customer_ref is not null then
    v_salt := uuid_send(gen_random_uuid());
    v_request.customer_hash := sha256(v_salt || convert_to(p_customer_ref::text, 'UTF8'));
  end if;

  with person as (
    insert into capacity.personal_data (request_id, salt, customer_ref)
    select v_request.id, v_salt, p_customer_ref where p_customer_ref is not null)
  insert into capacity.requests as r (
    id, workspace_id, created_at, updated_at, state_since, requester_user_id, commercial_owner_user_id, infra_owner_group, requested_size,
    quantity, region, needed_by_date, expected_duration_days, estimated_monthly_cost_usd, confirmation_ttl_days, slack_channel_id,
    replaces_request_id, customer_hash, review_plan, offer)
  values (
    v_request.id, p_workspace.id, v_request.created_at, v_request.created_at, v_request.created_at, p_actor.id,
    v_request.commercial_owner_user_id,
    v_request.infra_owner_group, p_requested_size, p_quantity, p_region, p_needed_by_date, p_expected_duration_days,
    p_estimated_monthly_cost_usd,
    p_confirmation_ttl_days, v_request.slack_channel_id, p_replaces_request_id, v_request.customer_hash, v_request.review_plan,
    v_request.offer)
  returning r.* into v_request;
  perform capacity.name_customer(v_request.id, p_workspace.id, p_customer_id, p_customer_ref);
  -- The steps of every decision, without a lock: nobody else can see the row yet.
  context := capacity.context_of(v_request, p_actor, 'REQUEST_SUBMITTED', 'REQUEST_SUBMITTED');
  v_applied := capacity.apply(context, capacity.judge(context), jsonb_build_object(
    'workspace_id', p_workspace.id, 'requester_user_id', p_actor.id, 'commercial_owner_user_id', v_request.commercial_owner_user_id,
    'infra_owner_group', v_request.infra_owner_group, 'requested_size', p_requested_size, 'quantity', p_quantity, 'region', p_region,
    'needed_by_date', p_needed_by_date, 'expected_duration_days', p_expected_duration_days,
    'estimated_monthly_cost_usd', p_estimated_monthly_cost_usd, 'confirmation_ttl_days', p_confirmation_ttl_days,
    'slack_channel_id', v_request.slack_channel_id, 'replaces_request_id', p_replaces_request_id,
    'customer_hash', encode(v_request.customer_hash, 'hex'), 'review_plan', v_request.review_plan)
    || case when v_request.offer is null then '{}' else jsonb_build_object('offer', v_request.offer) end);
  context.request := v_applied.request;
  story := v_applied.story;
end
$$;
comment on function capacity.submit(capacity.actor, directory.workspaces, text, text, jsonb, text, integer, text, date, integer, numeric,
                                    integer, text, text, text, text)
  is 'Makes and submits a request, once per idempotency key. Nullable: story.';
