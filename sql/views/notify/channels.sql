-- The channels by which people are told things: the only list. Types, checks, preferences, templates, pages and the documentation are
-- generated from it.
--
-- label: its name on pages. recipients: whom it can reach. chosen: people choose for each category whether they want it. waits: for quiet
-- hours, a digest or more of the same burst. sample: an address, for previews. rail: by which a message goes; the inbox has none. By the
-- rail `webhook` it goes to each endpoint of the workspace that takes notifications. destination: limits and circuits of a message apply to
-- it: failures of one workspace's recipients say nothing about the mail of others.
create or replace view notify.channels as
select c.*, c.rail is not null as leaves, c.rail is not distinct from 'webhook' as to_endpoints
  from (values
  ('in-app', 'Inbox', '{member}'::text[], true, false, '', null, null, 'the inbox: visible when the transaction that tells it commits'),
  ('email', 'E-mail', '{member,customer}', true, true, 'rita@example.com', 'email', 'email:{workspace}',
   'a mail to the address in the directory, or to the customer''s'),
  ('slack', 'Slack', '{member,group}', true, true, 'U0RITA', 'slack', 'slack:{address}',
   'a direct message from the bot, or by the person''s own webhook; for a group, in its channel'),
  ('webhook', 'Endpoints', '{member}', false, false, '', 'webhook', 'endpoint:{address}',
   'each endpoint of the workspace that takes notifications'))
  c(channel, label, recipients, chosen, waits, sample, rail, destination, meaning);
comment on view notify.channels is 'The channels by which people are told things.';
