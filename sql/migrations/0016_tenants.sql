-- Whose a row is and where it goes, by identity: strangers share an installation, and no name that one of them chooses may have an effect
-- on the rows of another.

-- An endpoint is known by its id. Its name is unique within its workspace, or among the installation's own, and inherits nothing from an
-- endpoint that had it before. The destination of its rows is called `endpoint:<id>`.
alter table outbox.endpoints add column id uuid not null default gen_random_uuid();
alter table outbox.endpoint_secrets add column endpoint_id uuid;
update outbox.endpoint_secrets s set endpoint_id = e.id from outbox.endpoints e where e.name = s.endpoint;
alter table outbox.endpoint_secrets drop column endpoint;
alter table outbox.alerts add column endpoint_id uuid;
update outbox.alerts a set endpoint_id = e.id from outbox.endpoints e where e.name = a.endpoint;
alter table outbox.alerts drop column endpoint;
drop index outbox.endpoints_by_workspace;
alter table outbox.endpoints
  drop constraint endpoints_pkey,
  add primary key (id),
  add constraint endpoints_name_key unique nulls not distinct (workspace_id, name);
alter table outbox.endpoint_secrets
  alter column endpoint_id set not null,
  add foreign key (endpoint_id) references outbox.endpoints on delete cascade;
create index endpoint_secrets_by_endpoint on outbox.endpoint_secrets (endpoint_id);
-- Not on delete cascade: whoever removes an endpoint is told which alerts would fall silent.
alter table outbox.alerts
  alter column endpoint_id set not null,
  add foreign key (endpoint_id) references outbox.endpoints;
create index alerts_by_endpoint on outbox.alerts (endpoint_id);

-- Rows that may leave without being sent. Most lanes have none, and are not searched for them.
create index pending_replaceable on outbox.pending (lane_id, seq) where coalesce_key is not null or expires_at is not null;
-- A relay that may reach private addresses does so for endpoints of which an operator said that they are meant.
alter table outbox.endpoints add column private boolean not null default false;
update outbox.endpoints e set private = true where e.workspace_id is null;
comment on column outbox.endpoints.private is 'An operator''s word that http and a private address are meant; a relay must allow them as well.';

comment on column outbox.endpoints.workspace_id is 'Whose requests it hears of, and whose rows alone it is sent; null: it belongs to the installation and may be sent any.';

-- What waits for an endpoint goes on waiting for it, under its new name.
update outbox.destinations d set name = 'endpoint:' || e.id from outbox.endpoints e where d.name = e.name;
update outbox.lanes l set key = e.id || substr(l.key, length(e.name) + 1)
  from outbox.endpoints e, outbox.streams s
 where s.stream_id = l.stream_id and s.name in ('capacity', 'transfers', 'ledger') and starts_with(l.key, e.name || ':');
update outbox.dedupe d set idempotency_key = e.id
  from outbox.endpoints e, outbox.streams s
 where s.stream_id = d.stream_id and s.name in ('transfers', 'ledger') and d.idempotency_key = e.name and e.workspace_id is null;
update outbox.payloads m set idempotency_key = e.id
  from outbox.endpoints e, outbox.streams s
 where s.stream_id = m.stream_id and s.name in ('transfers', 'ledger') and m.idempotency_key = e.name and e.workspace_id is null;

-- A subscription names an endpoint of the file that relays were started with. Endpoints of the database say themselves what they hear
-- of, by their topics.
do $$
declare
  v_subscription record;
begin
  update outbox.endpoints e
     set topics = e.topics || array(select 'capacity.request.' || lower(t::text)
                                      from unnest(coalesce(s.event_types, enum_range(null::public.capacity_request_event_type))) t)
    from capacity.subscriptions s
   where s.endpoint = e.name and s.workspace_id = e.workspace_id and s.enabled;
  for v_subscription in
    delete from capacity.subscriptions s using outbox.endpoints e where e.name = s.endpoint returning s.workspace_id, s.endpoint, e.workspace_id is null as shared
  loop
    continue when not v_subscription.shared;
    raise warning 'the subscription of workspace % to endpoint % is gone: give the endpoint topics instead', v_subscription.workspace_id, v_subscription.endpoint;
  end loop;
end
$$;
comment on table capacity.subscriptions is 'Endpoints of the relays'' file that get the events of a workspace as CloudEvents. Null types: all of them.';

-- Whose a row is: an opaque id, null for the installation's own.
alter table outbox.payloads add column tenant_id text;
comment on column outbox.payloads.tenant_id is 'Whose row this is; null: the installation''s. A tenant''s endpoint is sent that tenant''s rows only.';
update outbox.payloads m set tenant_id = r.workspace_id
  from capacity.requests r, outbox.streams s
 where s.name = 'capacity' and m.stream_id = s.stream_id and r.id = substring(m.instruction_id from '^[^#!]+')
   and m.outbox_id in (select p.outbox_id from outbox.pending p union all select d.outbox_id from outbox.dead d);

-- Who may enqueue. Our own functions write what nobody else may: an instruction that a stranger had used up would stop a decision.
alter table outbox.streams add column writers name[];
comment on column outbox.streams.writers is 'Roles that may enqueue here; null: whoever may call outbox.enqueue(). Empty: Headroom''s own functions alone, for good.';
update outbox.streams s set writers = '{}' where s.name in ('capacity', 'alerts', 'interactions', 'transfers', 'ledger');

-- A renderer reads everything as the owner, so it works for rows of the stream that it was made for and for no others.
alter table outbox.renderers add column stream_id smallint references outbox.streams;
update outbox.renderers r set stream_id = s.stream_id
  from outbox.streams s where s.name = case r.name when 'alert' then 'alerts' else 'capacity' end;
alter table outbox.renderers alter column stream_id set not null;

-- What was sent. Where nothing was bound or rendered that is the stored text, whose hash the DISPATCHING line has.
alter table outbox.attempts add column sent_hash bytea;
comment on column outbox.attempts.sent_hash
  is 'On the outcome of a call, where something was bound or rendered: hash of the text that went out, salted like payload_hash. Null: the stored text went out.';

-- The text that Postgres holds is what a relay gets; taken apart and put together again, long numbers came out as others.
alter type outbox.claimed_row rename attribute payload to body;
alter type outbox.claimed_row alter attribute body type text;
alter type outbox.claimed_row alter attribute captures type text;
alter type outbox.claimed_row rename attribute binds to has_binds;
alter type outbox.claimed_row alter attribute has_binds type boolean;
alter type outbox.claimed_row add attribute tenant_id text;
comment on type outbox.claimed_row is 'A row that a claim hands to a relay. Nullable: lane_id, seq, key, destination_id, destination, sent_ago_ms, captures, tenant_id.';

-- Signatures that change.
-- A relay from before must find no function that hands out something else than it knows.
drop function if exists outbox.claim(integer, smallint, integer, integer, bigint), outbox.render(uuid[]), outbox.captured(bigint[]);
drop function if exists outbox.check_row(outbox.streams, text, smallint, text, text, text, text, integer, integer, text, text);
drop function if exists outbox.why_not_enqueued(text, text, text, text, text, text, integer, text, text);
drop function if exists outbox.enqueue_pair(text, text, text, text, text, text, jsonb, text, jsonb, text, jsonb, text, jsonb);
drop function if exists outbox.create_stream(text, boolean, text, boolean, boolean, integer, integer, real, integer, integer, integer, integer, text, integer);
drop function if exists outbox.settle(
  smallint, bigint[], bigint[], bigint[], uuid[], integer[], integer[], text[], text[], text[], text[], bigint[], boolean[], boolean[], integer[], jsonb);
drop function if exists outbox.settle_lanes(outbox.streams, outbox.fenced_lane[], bigint[], bigint[], bigint[], uuid[], integer[], integer[], text[], text[], text[]);
drop function if exists outbox.settle_rows(outbox.streams, bigint[], uuid[], integer[], integer[], text[], text[], text[]);
drop function if exists outbox.settle_lane_exceptions(
  outbox.streams, bigint[], bigint[], bigint[], uuid[], integer[], integer[], text[], text[], text[], bigint[], boolean[]);
drop function if exists outbox.settle_row_exceptions(
  outbox.streams, bigint[], uuid[], integer[], integer[], text[], text[], text[], bigint[], boolean[]);
drop function if exists outbox.endpoint_for_relay(text), outbox.endpoint_gone(text, integer), outbox.find_endpoint(text, text, boolean);
drop function if exists outbox.list_endpoints(text), outbox.put_endpoint(text, jsonb, text, boolean), outbox.remove_endpoint(text);
drop function if exists outbox.rotate_endpoint_secret(text, text, interval), outbox.enable_endpoint(text), outbox.disable_endpoint(text, text);
drop function if exists outbox.add_endpoint_secret(text, text, interval), outbox.set_endpoint_headers(text, jsonb), outbox.ping_endpoint(text);
drop function if exists outbox.destination_status();
drop function if exists public.list_endpoints(text), public.remove_endpoint(text), public.rotate_endpoint_secret(text, integer);
drop function if exists public.enable_endpoint(text), public.disable_endpoint(text, text);
drop function if exists capacity.endpoint_keeper(text);
