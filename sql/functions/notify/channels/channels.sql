-- The channels there are: the one table. Chosen: people choose for each category whether they want it. Waits: for quiet hours, a digest or
-- more of the same burst. Leaves: as a message by a rail, which may fail and be sent again. The documentation is drawn from it.
create or replace function notify.channels() returns table (channel text, chosen boolean, waits boolean, leaves boolean, meaning text)
language sql immutable set search_path = pg_catalog, pg_temp
as $$
  values
    ('in-app', true, false, false, 'the inbox: it stands there with the transaction that tells it'),
    ('email', true, true, true, 'a mail to the address in the directory, or to the customer''s'),
    ('slack', true, true, true, 'a direct message from the bot, or by the person''s own webhook; for a group, in its channel'),
    ('webhook', false, false, true, 'each endpoint of the workspace that takes notifications')
$$;
comment on function notify.channels() is 'The channels by which people are told things.';
