-- Requests that wait for their commercial review, in a workspace that posts to Slack: $1 of them, with the root message delivered
-- long ago, so that the lane of each is idle. Written in sets; their hashes are no chain, which nothing here looks at.
with people as (
  insert into directory.members (workspace_id, id, display_name, slack_user_id, roles)
  values ('default', 'ann', 'Ann', 'U0ANN', '{requester}'), ('default', 'bob', 'Bob', 'U0BOB', '{commercial}'), ('default', 'ida', 'Ida', 'U0IDA', '{requester}')
), grouped as (
  insert into directory.groups (workspace_id, id, name) values ('default', 'infra', 'Infra')
), surface as (
  update directory.workspaces set slack_channel_id = 'C0123456' where id = 'default'
), queue as materialized (
  select outbox.destination_id('slack:C0123456', 'default')
), asked as (
  insert into capacity.requests (
    id, workspace_id, version, state, created_at, updated_at, state_since, requester_user_id, commercial_owner_user_id, infra_owner_group,
    requested_size, quantity, region, expected_duration_days, estimated_monthly_cost_usd, slack_channel_id, customer_hash, review_plan, head_hash)
  select 'CR-2026-' || lpad(g::text, 6, '0'), 'default', 1, 'UNDER_REVIEW', now(), now(), now(), 'ann', 'bob', 'infra',
         '32XL', 4, 'us-east-1', 30, 1000, 'C0123456', sha256(int8send(g)),
         '{"technical": {"why": "Any member of the group Infra reviews it.", "auto": false, "rule": null, "group": "infra", "reviewers": [{"id": "ida", "name": "Ida"}]},
           "commercial": {"why": "Bob is the commercial owner.", "auto": false, "rule": null, "owner": "bob", "authority": {"kind": "owner", "member": "bob"},
                          "reviewers": [{"id": "bob", "name": "Bob"}]}}', sha256(int8send(g))
    from generate_series(1, $1::bigint) g
  returning id
), told as (
  insert into capacity.events (request_id, seq, id, event_type, actor_type, actor_id, via, state_before, state_after, payload, effects, created_at, hash, workspace_id)
  select a.id, 1, gen_random_uuid(), 'REQUEST_SUBMITTED', 'user', 'ann', 'api', 'SUBMITTED', 'UNDER_REVIEW', '{}', '{slack:root}', now(), sha256(a.id::bytea), 'default'
    from asked a
), customers as (
  insert into capacity.personal_data (request_id, salt, customer_ref) select a.id, sha256(a.id::bytea), '{"name": "Acme"}' from asked a
), lanes as (
  insert into outbox.lanes (stream_id, key, next_seq, idle_at, delivered_to)
  select s.stream_id, a.id || ':slack', 2, 2, 1 from asked a, outbox.streams s where s.name = 'capacity'
  returning lane_id
), threads as (
  insert into outbox.captures (lane_id, name, value, outbox_id) select l.lane_id, 'slack_thread_ts', '"1767348000.000100"', gen_random_uuid() from lanes l
)
select count(*) from queue
