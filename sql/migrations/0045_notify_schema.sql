-- run as: migrator
-- Notifications to people: what each of them is told, by which channel, when, and what became of it. The migrator makes the schema, which
-- needs a right on the database; everything else is made as the owner.
create schema notify authorization headroom_owner;
comment on schema notify
  is 'Notifications: what people are told, their preferences, what is held until it is due, and what became of it. Private.';

set local role headroom_owner;

-- One thing that one person is told. The key is the recipient's own: the seed's, unique over all tenants, would let one of them probe for
-- another's.
create table notify.notifications (
  id uuid primary key default gen_random_uuid(),
  workspace_id text not null references directory.workspaces,
  recipient_kind text not null check (recipient_kind in ('member', 'customer', 'group')),
  recipient text not null check (length(recipient) between 1 and 100),
  idempotency_key text not null check (length(idempotency_key) between 1 and 512),
  category text not null check (length(category) between 1 and 40),
  cause text check (length(cause) <= 100),
  about text check (length(about) between 1 and 100),
  title text check (length(title) between 1 and 200),
  body text check (length(body) between 1 and 20000),
  action_url text check (length(action_url) <= 2000),
  link jsonb,
  address text check (length(address) <= 320),
  channels text[] not null,
  priority smallint not null default 5 check (priority between 0 and 9),
  critical boolean not null default false,
  created_at timestamptz not null default clock_timestamp(),
  expires_at timestamptz not null,
  read_at timestamptz,
  erased_at timestamptz,
  name text check (length(name) <= 300),
  check ((erased_at is null) = (title is not null) and (erased_at is null) = (body is not null)),
  check (erased_at is null or num_nonnulls(link, address, name) = 0)
) with (fillfactor = 90);
-- A key of ours and one that a caller of notify() chose are two, even where they read the same: ours can be guessed, and whoever took one
-- first would keep somebody from being told. What we tell has a cause; what a caller tells has none.
create unique index notifications_key on notify.notifications (workspace_id, recipient_kind, recipient, idempotency_key, (cause is null));
create index notifications_inbox on notify.notifications (workspace_id, recipient, created_at desc, id desc)
  where recipient_kind = 'member' and channels @> array['in-app'];
create index notifications_unread on notify.notifications (workspace_id, recipient)
  where recipient_kind = 'member' and channels @> array['in-app'] and read_at is null;
create index notifications_about on notify.notifications (about) where about is not null;
create index notifications_age on notify.notifications (category, created_at);
-- Who was told something lately, or has read it lately, on any of the browsers that are open.
create index notifications_recent on notify.notifications (created_at);
create index notifications_read on notify.notifications (read_at) where read_at is not null;
comment on table notify.notifications is 'What people are told, one row for each person and thing.';
comment on column notify.notifications.recipient is 'A member''s or a group''s id; for a customer, the id of what they are asked about.';
comment on column notify.notifications.cause is 'The rule that made it; null where a caller of notify() did.';
comment on column notify.notifications.about is 'What it is about, such as a request: what is about the same thing is one thread.';
comment on column notify.notifications.link is 'A link whose token is made at the moment of sending: its kind, id and address.';
comment on column notify.notifications.address is 'A customer''s address. A member''s is read when it is sent.';
comment on column notify.notifications.name is 'A customer''s name. A member''s is read when it is sent.';
comment on column notify.notifications.channels is 'By which channels it was meant to go, after the person''s preferences.';

-- One message by one channel to one recipient, as a row of the outbox.
create table notify.deliveries (
  id uuid primary key default gen_random_uuid(),
  workspace_id text not null references directory.workspaces,
  recipient_kind text not null check (recipient_kind in ('member', 'customer', 'group')),
  recipient text not null,
  channel text not null check (length(channel) between 1 and 20),
  priority smallint not null check (priority between 0 and 9),
  released_at timestamptz not null default clock_timestamp(),
  outbox_id uuid not null unique,
  address_mark bytea,
  outcome text check (outcome in ('delivered', 'bounced', 'complained')),
  outcome_at timestamptz,
  outcome_said text check (length(outcome_said) <= 500),
  to_erase boolean not null default false
) with (fillfactor = 80);
create index deliveries_recent on notify.deliveries (workspace_id, released_at desc, id desc);
-- By which mails that did not reach a customer are found.
create index deliveries_customer on notify.deliveries (recipient) where recipient_kind = 'customer';
-- Mails to an address that was suppressed and that may still wait to be sent.
create index deliveries_address on notify.deliveries (workspace_id, address_mark) where address_mark is not null and outcome is null;
-- The last messages of a channel, for its metrics.
create index deliveries_channel on notify.deliveries (channel, released_at desc);
create index deliveries_to_erase on notify.deliveries (id) where to_erase;
create index deliveries_recipient on notify.deliveries (workspace_id, recipient_kind, recipient);
create index deliveries_age on notify.deliveries (released_at);
comment on table notify.deliveries is 'Messages to people, each by one channel, with the notifications that they carry (notify.parts).';
comment on column notify.deliveries.address_mark is 'Keyed hash of the address that a mail went to.';
comment on column notify.deliveries.outcome is 'What the channel said later; null: nothing beyond having taken it.';
comment on column notify.deliveries.to_erase is 'What it says is to be erased, as soon as it is not being sent.';

-- How a notification goes by each of its channels: held until it is due, then carried by a message, alone or with others, or dropped. Only
-- inserted where something is told, so that nobody who tells waits for another: what belongs together is found when it is due. Without
-- foreign keys: their checks are planned for the table as it was, and a table that fills up within minutes is read whole for each row.
create table notify.parts (
  notification_id uuid not null,
  channel text not null check (length(channel) between 1 and 20),
  state text not null check (state in ('shown', 'held', 'carried', 'dropped')),
  reason text check (length(reason) <= 40),
  delivery_id uuid,
  workspace_id text not null,
  recipient_kind text not null,
  recipient text not null,
  merge_key text not null default '',
  priority smallint not null,
  due_at timestamptz not null,
  expires_at timestamptz not null,
  endpoint_id text not null default '',
  primary key (notification_id, channel, endpoint_id),
  check ((state = 'shown') = (channel = 'in-app') or state = 'dropped'),
  check ((state = 'carried') = (delivery_id is not null)),
  check ((state = 'dropped') = (reason is not null)),
  check (endpoint_id = '' or channel = 'webhook')
) with (fillfactor = 80);
create index parts_due on notify.parts (priority desc, due_at) where state = 'held';
create index parts_together on notify.parts (workspace_id, recipient_kind, recipient, channel, merge_key) where state = 'held';
-- What each workspace has that is due, its most important first: releases take a few of each, so that none holds up the others.
create index parts_turn on notify.parts (workspace_id, priority desc, due_at) where state = 'held';
create index parts_customer_dropped on notify.parts (recipient) where recipient_kind = 'customer' and state = 'dropped';
create index parts_delivery on notify.parts (delivery_id) where delivery_id is not null;
comment on table notify.parts is 'How each notification goes by each of its channels.';
comment on column notify.parts.state is 'shown: in the inbox. held: waits until due_at. carried: by a message. dropped: for a reason.';
comment on column notify.parts.endpoint_id
  is 'To which endpoint, where the channel is webhook; empty: there is none, or it is another channel.';
comment on column notify.parts.merge_key is 'What goes into one message: what is about one thing, or a digest. Empty: alone.';

-- Messages that ended without having been delivered, until somebody has looked at what that means. Only inserted where it happens, so that
-- no relay waits for anything: what follows is done when the next messages are released.
create table notify.endings (
  outbox_id uuid primary key,
  code text not null check (length(code) between 1 and 100),
  ended_at timestamptz not null default clock_timestamp()
);
comment on table notify.endings is 'Messages that were given up or came too late, until that was followed.';

-- How people want to hear.
create table notify.people (
  workspace_id text not null,
  member_id text not null,
  time_zone text not null default 'UTC' check (length(time_zone) between 1 and 64),
  quiet_from time,
  quiet_until time,
  digest_at time not null default '09:00',
  slack_webhook boolean not null default false,
  updated_at timestamptz not null default clock_timestamp(),
  primary key (workspace_id, member_id),
  foreign key (workspace_id, member_id) references directory.members on delete cascade,
  check ((quiet_from is null) = (quiet_until is null) and quiet_from <> quiet_until)
);
comment on table notify.people is 'When people want to hear, by their own clock. Who has no row hears at once.';
comment on column notify.people.slack_webhook
  is 'They have an incoming webhook of their own, sealed under its name; else the bot writes to them.';

create table notify.preferences (
  workspace_id text not null references directory.workspaces,
  whose text not null check (length(whose) between 1 and 100),
  category text not null check (length(category) between 1 and 40),
  channel text not null check (length(channel) between 1 and 20),
  choice text not null check (choice in ('on', 'off', 'digest')),
  updated_at timestamptz not null default clock_timestamp(),
  primary key (workspace_id, whose, category, channel)
);
comment on table notify.preferences is 'What people chose, where it is not the default.';
comment on column notify.preferences.whose is 'member:<id>, or address:<keyed hash> for somebody who is known by an address alone.';

-- Addresses to which nothing goes any more, by a keyed hash: what bounced or was complained about.
create table notify.address_keys (
  workspace_id text primary key references directory.workspaces,
  key bytea not null check (length(key) = 32)
);
comment on table notify.address_keys is 'By which the addresses of a workspace are hashed.';
create table notify.suppressions (
  workspace_id text not null references directory.workspaces,
  address_mark bytea not null,
  reason text not null check (reason in ('bounced', 'complained', 'rejected')),
  said text check (length(said) <= 500),
  since timestamptz not null default clock_timestamp(),
  lifted_at timestamptz,
  lifted_by text check (length(lifted_by) between 1 and 200),
  primary key (workspace_id, address_mark, since),
  check ((lifted_at is null) = (lifted_by is null))
);
create unique index suppressions_open on notify.suppressions (workspace_id, address_mark) where lifted_at is null;
comment on table notify.suppressions is 'Addresses to which no mail goes any more, until somebody lifts it.';

-- Roles that may insert into public.notification_outbox, beside machines.
create table notify.producers (
  role_name name primary key,
  added_at timestamptz not null default clock_timestamp(),
  added_by text not null
);
comment on table notify.producers is 'Logins of applications that may notify people.';

-- What messages say is data: ours come with the release (sql/templates/), and a workspace may have its own words in their place.
create table notify.own_templates (
  name text not null check (name ~ '^[a-z][a-z_]{0,39}$'),
  language text not null check (language ~ '^[a-z]{2}$'),
  title text not null check (length(title) between 1 and 300),
  body text not null check (length(body) between 1 and 10000),
  primary key (name, language)
);
comment on table notify.own_templates is 'The texts that come with the release, one file each in sql/templates.';

create table notify.templates (
  workspace_id text not null references directory.workspaces,
  name text not null,
  language text not null,
  title text not null check (length(title) between 1 and 300),
  body text not null check (length(body) between 1 and 10000),
  updated_at timestamptz not null default clock_timestamp(),
  updated_by text not null check (length(updated_by) between 1 and 200),
  primary key (workspace_id, name, language),
  foreign key (name, language) references notify.own_templates
);
-- By which the workspaces' own words for a template are found, where that template is removed.
create index templates_own on notify.templates (name, language);
comment on table notify.templates is 'The texts that workspaces have in place of ours.';
comment on column notify.templates.updated_by is 'The member who set it, or the key or login that did.';

reset role;
