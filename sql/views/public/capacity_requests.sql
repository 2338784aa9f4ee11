-- Requests as the API shows them: the caller's own rights decide which rows there are. Values that deliveries captured are joined and not
-- part of the fold, and neither is the request's owner. A query that does not ask for those columns does not pay for them, and a query by
-- thread or issue uses an index.
--
-- The check whether a machine's key is valid is a condition on a column, unlike in other views: otherwise PostgreSQL 15 would join tables
-- whose columns no query asked for. With a valid key it is `id <> ''`, which is always true; otherwise `id <> null`, which never is.
create or replace view public.capacity_requests with (security_invoker = true) as
select r.id, r.version, r.state, r.created_at, r.updated_at, r.requester_user_id, r.commercial_owner_user_id, r.infra_owner_group,
       d.customer_ref, r.requested_size, r.quantity, r.region, r.needed_by_date, r.expected_duration_days, r.estimated_monthly_cost_usd,
       r.commercial_approved_at, r.technical_approved_at, r.next_deadline_at, r.confirmation_ttl_days, r.slack_channel_id,
       s.value as slack_thread_ts, l.value as linear_issue_id,
       capacity.last_notified_at(r.id) as last_notified_at,
       (select coalesce(t.content #>> '{}', '(erased)') from capacity.free_texts t
         where t.request_id = r.id and t.hash = r.cancellation_reason_hash)
         as cancellation_reason,
       r.cancellation_authorizer_user_id,
       r.workspace_id, r.state_since, r.replaces_request_id, r.review_plan, r.commercial_endorsed_at, r.commercial_endorsed_by,
       r.commercial_approved_by, r.technical_approved_by,
       (select coalesce(t.content #>> '{}', '(erased)') from capacity.free_texts t
         where t.request_id = r.id and t.hash = r.rejection_reason_hash)
         as rejection_reason,
       capacity.unasked(r.id, r.state) as customer_unasked,
       coalesce(c.customer_id, encode(c.customer_key, 'hex')) as customer_id,
       r.offer, d.justification
  from capacity.requests r
  left join capacity.personal_data d on d.request_id = r.id
  left join capacity.request_captures s on s.request_id = r.id and s.name = 'slack_thread_ts'
  left join capacity.request_captures l on l.request_id = r.id and l.name = 'linear_issue_id'
  left join capacity.request_customers c on c.request_id = r.id
 where r.id <> (select case when directory.reader_key_valid() then '' end);
comment on view public.capacity_requests is 'Capacity requests: the current state of each.';
