-- Where events go, worked out when an endpoint or a subscription changes and not at each event: matching every endpoint's topics was a part
-- of each decision that grew with their number.
--
-- A row for each endpoint and type of event, so that two endpoints which change at the same time write different rows: neither waits for
-- the other, and neither undoes what the other did. No foreign key: a relay that disables an endpoint must not wait for whoever changes
-- the workspace. Filled by capacity.route_all(), with the registrations: what decides about topics is a function, and those are made
-- after the migrations.
create table capacity.routes (
  workspace_id text not null default '',
  event_type public.capacity_request_event_type not null,
  name text not null check (name <> ''),
  primary key (workspace_id, event_type, name)
);
create index routes_name on capacity.routes (name);
comment on table capacity.routes
  is 'Which endpoints get the events of a type. Follows endpoints and subscriptions, by a hook and a trigger.';
comment on column capacity.routes.workspace_id is 'Whose events; empty: those of every workspace, for an endpoint of the installation.';
comment on column capacity.routes.name
  is 'What follows "event:" in a side effect: the id of an endpoint, or file:<name> of one in the relays'' file.';
