-- One decision from one read: what is known when something is decided about a request, and what was judged from it.
-- Which event, notice or problem tells whom. A table, because each decision looks up its lines; sql/registrations/capacity.sql says what
-- is in it.
drop function if exists capacity.tells();
create table capacity.tells (
  cause text not null,
  audience text not null,
  category text not null,
  critical boolean not null,
  template text not null,
  channels text[] not null,
  priority integer not null,
  provided text,
  place integer not null,
  primary key (cause, place),
  unique (cause, audience)
);
comment on table capacity.tells is 'Which event, notice or problem tells whom, by which channels.';
comment on column capacity.tells.critical is 'Whether its category passes quiet hours and preferences.';
comment on column capacity.tells.provided is 'When a line applies, in words, where that is not always.';
comment on column capacity.tells.place is 'Where it stands in the list.';

create type capacity.tell as (
  audience text,
  category text,
  critical boolean,
  channels text[],
  priority integer,
  template text,
  title text,
  body text,
  their_title text,
  their_body text
);
comment on type capacity.tell is 'A line of capacity.tells with the words of its template, ours and the workspace''s.';

create type capacity.context as (
  request capacity.requests,
  event_type public.capacity_request_event_type,
  cause text,
  actor capacity.actor,
  standing directory.standing,
  now timestamptz,
  decided_by text,
  decided_at timestamptz,
  endorsed_at timestamptz,
  linear_team_id text,
  public_url text,
  uses_slack boolean,
  has_issue boolean,
  quiet boolean,
  requester_name text,
  requester_slack text,
  requester_here boolean,
  customer_ref jsonb,
  customer_id text,
  customer_address jsonb,
  erased boolean,
  slack_thread_ts text,
  linear_issue_id text,
  last_delivered_at timestamptz,
  told_directly boolean,
  told text[],
  group_told text,
  endpoints text[],
  tells capacity.tell[]
);
comment on type capacity.context is 'A request, who acts on it, and all that a decision about it depends on, read once.';

create type capacity.verdict as (
  repeated boolean,
  decided_by text,
  decided_at timestamptz,
  allowed boolean,
  counts boolean,
  state_after public.capacity_request_state,
  code text,
  reason text,
  detail text,
  hint text
);
comment on type capacity.verdict is 'What capacity.judge() says of a decision.';

drop function if exists capacity.apply(text, public.capacity_request_event_type, capacity.actor, jsonb, integer);
drop function if exists capacity.decide(
  text, public.capacity_request_event_type, public.capacity_request_actor_type, text, jsonb, integer);
drop function if exists capacity.approve_by_rule(capacity.requests, text);
drop function if exists capacity.lock_readable(text, text, text);
drop function if exists capacity.may_read(capacity.requests, text);
drop function if exists capacity.acts_as_owner(capacity.requests, text, text[]);
drop function if exists capacity.stands_in_for(capacity.requests, text, text);
drop function if exists capacity.authorize(capacity.actor, capacity.requests, public.capacity_request_event_type);
drop function if exists capacity.asked_now(capacity.requests);
drop function if exists capacity.story_of(capacity.requests, capacity.events, text[], boolean);
drop function if exists capacity.effects_of(
  capacity.requests, public.capacity_request_event_type, public.capacity_request_state, text);
drop function if exists capacity.dispatch_side_effects(capacity.requests, capacity.events);
drop function if exists capacity.has_issue(capacity.requests);
drop function if exists capacity.tells_of_event(
  capacity.requests, public.capacity_request_event_type, public.capacity_request_state, text, boolean);
drop function if exists capacity.tells_of_offer(capacity.requests, public.capacity_request_state);
drop function if exists capacity.tells_of_notice(capacity.requests, text, text, text[]);
drop function if exists capacity.notice_effects(capacity.requests, text, capacity.actor, text[]);
drop function if exists capacity.notice_asked(capacity.requests, text, text);
drop function if exists capacity.post_notice(capacity.requests, text, text, text, capacity.actor, text, text[], text);
drop function if exists capacity.audience(capacity.requests, jsonb, text);
drop function if exists capacity.tell_people(capacity.requests, jsonb, text[]);
drop function if exists capacity.tell_text(jsonb, text, text);
drop function if exists capacity.story_next(jsonb);
drop function if exists capacity.group_channel(capacity.requests);
drop function if exists capacity.group_told(capacity.requests);
drop function if exists capacity.still_asked(capacity.requests, text[], text[]);
drop function if exists capacity.direct_channel(capacity.requests);
