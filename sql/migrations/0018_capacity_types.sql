-- run as: migrator
-- The schema of the workflow and its types. Those that the API names are in public, where its callers see them.
create schema capacity authorization headroom_owner;
comment on schema capacity is 'The workflow: requests and their events, policies, confirmation links, timers. Private.';

set local role headroom_owner;

create type public.capacity_request_state as enum (
  'SUBMITTED', 'UNDER_REVIEW', 'CUSTOMER_CONFIRMATION_REQUIRED', 'PROVISIONING', 'COMPLETED',
  'REJECTED', 'CANCELLED', 'EXPIRED', 'FAILED'
);
create type public.capacity_request_event_type as enum (
  'REQUEST_SUBMITTED', 'COMMERCIAL_APPROVED', 'COMMERCIAL_REJECTED', 'TECH_REVIEW_APPROVED', 'TECH_REVIEW_REJECTED',
  'CUSTOMER_CONFIRMED', 'CUSTOMER_DECLINED', 'CUSTOMER_CONFIRMATION_TIMEOUT', 'PROVISIONING_COMPLETE', 'PROVISIONING_FAILED',
  'CANCEL_APPROVED'
);
create type public.capacity_request_actor_type as enum ('user', 'system', 'cron', 'customer');

-- Who acts, and through which entrance, once that is established.
create type capacity.actor as (
  type public.capacity_request_actor_type,
  id text,
  via text
);

reset role;
