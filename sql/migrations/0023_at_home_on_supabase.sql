-- What an installation on Supabase, or beside other users of one server, runs into.

-- It is outbox.resolve_dead() now: Supabase's event trigger for pg_graphql acts on every new function named resolve, in any schema, and fails.
drop function if exists outbox.resolve(uuid, boolean, text, text, text);

-- A plain function over an array takes its place: an aggregate cannot have a search_path of its own.
drop aggregate if exists capacity.fold(capacity.events);

-- Foreign keys without an index: whoever removes what they name had to read the whole table. All of these are small or rarely written.
create index streams_class on outbox.streams (class_id);
create index renderers_stream on outbox.renderers (stream_id);
create index alerts_raised_stream on outbox.alerts_raised (stream_id);
create index alerts_raised_rail on outbox.alerts_raised (rail_id);
create index policies_approver on capacity.policies (workspace_id, approver_id) where approver_id is not null;
create index policies_group on capacity.policies (workspace_id, group_id) where group_id is not null;
create index requests_replaced on capacity.requests (replaces_request_id) where replaces_request_id is not null;
create index identity_domains_workspace on capacity.identity_domains (workspace_id);
create index api_keys_member on capacity.api_keys (workspace_id, member_id);
