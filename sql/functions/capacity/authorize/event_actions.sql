-- The actions of people that are events of a request, and the step whose people are asked for it.
create or replace function capacity.event_actions()
returns table (action text, event_type public.capacity_request_event_type, step text)
language sql immutable set search_path = pg_catalog, pg_temp
as $$
  select a.action, a.event_type::public.capacity_request_event_type, a.step
    from (values
      ('approve_commercial', 'COMMERCIAL_APPROVED', 'commercial'),
      ('reject_commercial', 'COMMERCIAL_REJECTED', 'commercial'),
      ('approve_technical', 'TECH_REVIEW_APPROVED', 'technical'),
      ('reject_technical', 'TECH_REVIEW_REJECTED', 'technical'),
      ('confirm', 'CUSTOMER_CONFIRMED', 'confirmation'),
      ('decline', 'CUSTOMER_DECLINED', 'confirmation'),
      ('cancel', 'CANCEL_APPROVED', null)
    ) a(action, event_type, step);
$$;
comment on function capacity.event_actions() is 'Actions of people that are events of a request. Nullable: step.';
