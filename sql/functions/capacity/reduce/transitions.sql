-- The transition table. compute_next_state() implements the same in code, because searching a table for every event
-- costs more than a comparison; a test proves that they agree. The diagram in the documentation is drawn from this.
create or replace function capacity.transitions()
returns table (
  state_before public.capacity_request_state,
  event_type public.capacity_request_event_type,
  state_after public.capacity_request_state,
  when_both_approved boolean
)
language sql immutable set search_path = pg_catalog, pg_temp
as $$
  select t.state_before::public.capacity_request_state, t.event_type::public.capacity_request_event_type,
         t.state_after::public.capacity_request_state, t.when_both_approved
    from (values
      ('SUBMITTED', 'REQUEST_SUBMITTED', 'UNDER_REVIEW', null::boolean),
      ('SUBMITTED', 'CANCEL_APPROVED', 'CANCELLED', null),
      ('UNDER_REVIEW', 'COMMERCIAL_APPROVED', 'UNDER_REVIEW', false),
      ('UNDER_REVIEW', 'COMMERCIAL_APPROVED', 'CUSTOMER_CONFIRMATION_REQUIRED', true),
      ('UNDER_REVIEW', 'TECH_REVIEW_APPROVED', 'UNDER_REVIEW', false),
      ('UNDER_REVIEW', 'TECH_REVIEW_APPROVED', 'CUSTOMER_CONFIRMATION_REQUIRED', true),
      ('UNDER_REVIEW', 'COMMERCIAL_REJECTED', 'REJECTED', null),
      ('UNDER_REVIEW', 'TECH_REVIEW_REJECTED', 'REJECTED', null),
      ('UNDER_REVIEW', 'CANCEL_APPROVED', 'CANCELLED', null),
      ('CUSTOMER_CONFIRMATION_REQUIRED', 'CUSTOMER_CONFIRMED', 'PROVISIONING', null),
      ('CUSTOMER_CONFIRMATION_REQUIRED', 'CUSTOMER_DECLINED', 'CANCELLED', null),
      ('CUSTOMER_CONFIRMATION_REQUIRED', 'CUSTOMER_CONFIRMATION_TIMEOUT', 'EXPIRED', null),
      ('CUSTOMER_CONFIRMATION_REQUIRED', 'CANCEL_APPROVED', 'CANCELLED', null),
      ('PROVISIONING', 'PROVISIONING_COMPLETE', 'COMPLETED', null),
      ('PROVISIONING', 'PROVISIONING_FAILED', 'FAILED', null),
      ('PROVISIONING', 'CANCEL_APPROVED', 'CANCELLED', null)
    ) t(state_before, event_type, state_after, when_both_approved);
$$;
comment on function capacity.transitions()
  is 'Every lawful step; null where the approvals do not matter. Nullable: when_both_approved.';
