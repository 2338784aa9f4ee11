-- What makes somebody's words fit for a surface is needed by notifications too, and moved there.
drop function if exists capacity.render_text(text, integer);
drop function if exists capacity.slack_text(text, integer);
drop function if exists capacity.email_text(text, integer);
drop function if exists capacity.email_html(text[], text);
drop function if exists capacity.email_letter(text, text, text[], text);

-- Mails, direct messages and reminders are notifications now: events and notices name whom they tell (`tell:<audience>`). What was named
-- before keeps its row in the outbox.
comment on column capacity.events.effects is 'The side effects that this event named: each is one outbox row with instruction '
  '<request>#<seq> and this idempotency key; tell:<audience> is notifications with the key <request>#<seq>/<audience>.';
comment on table capacity.notices is 'What is said about a request without changing it. Append-only; side effects have instruction '
  '<request>!<id>, and notifications the key <request>!<id>/<audience>.';
-- The customer hears of a refund.
alter table capacity.notices drop constraint notices_kind_check;
alter table capacity.notices add constraint notices_kind_check
  check (kind in ('warning', 'reminder', 'late', 'nudge', 'note', 'unasked', 'address', 'link', 'job', 'payment', 'payment_failed',
                  'refund'));

drop function if exists capacity.effects_of(
  capacity.requests, public.capacity_request_event_type, public.capacity_request_state);
drop function if exists capacity.notice_effects(capacity.requests, text, text, text[]);
drop function if exists capacity.links_of(text);
drop function if exists capacity.member_mails(text, text[]);
drop function if exists capacity.render_email_closing(jsonb);
drop function if exists capacity.render_email_confirmation(jsonb);
drop function if exists capacity.render_email_digest(jsonb);
drop function if exists capacity.render_email_notice(jsonb, text);
drop function if exists capacity.render_slack_digest(jsonb);
drop function if exists capacity.email_facts(jsonb);

-- What a relay found out that a workspace's operators are told: messages that were given up, and circuits that opened or closed. Only
-- inserted where a relay waits; who is told of it, and with what else, is decided when the next messages are released.
create table capacity.problems (
  id bigint generated always as identity primary key,
  workspace_id text not null,
  kind text not null check (kind in ('dead_letters', 'circuit')),
  stream text,
  rail text,
  destination text,
  circuit text check (circuit in ('open', 'closed')),
  code text,
  count integer not null default 1,
  outbox_id uuid,
  noted_at timestamptz not null default clock_timestamp(),
  check ((kind = 'circuit') = (destination is not null) and (kind = 'circuit') = (circuit is not null)),
  check ((kind = 'dead_letters') = (stream is not null) and (kind = 'dead_letters') = (rail is not null))
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 200);
create index problems_of_workspace on capacity.problems (workspace_id, kind, id);
create index problems_of_destination on capacity.problems (destination, workspace_id) where destination is not null;
comment on table capacity.problems is 'What could not be delivered, until the operators of the workspace are told.';
comment on column capacity.problems.outbox_id is 'Of a message to people, which may itself tell of problems; others are counted.';

-- Without these, a mail server that is down would be told of once a second.
create table capacity.problems_told (
  workspace_id text not null references directory.workspaces,
  cause text not null check (length(cause) between 1 and 40),
  told_at timestamptz not null,
  primary key (workspace_id, cause)
);
comment on table capacity.problems_told is 'When the operators of a workspace were last told of a kind of problem.';
create table capacity.circuits_told (
  destination text not null,
  workspace_id text not null references directory.workspaces,
  told_at timestamptz not null default clock_timestamp(),
  primary key (workspace_id, destination)
);
comment on table capacity.circuits_told is 'Open circuits that operators were told of, who hear when they close.';
