-- The names of a part's states, by how far it came: the only such table. `rank` orders them: the overall status of a notification is that
-- of the worst unfinished part, otherwise of the best. The documentation is generated from it.
create or replace function notify.status_rules() returns table (stage text, status text, finished boolean, rank integer, meaning text)
language sql immutable security definer set search_path = pg_catalog, pg_temp
as $$
  values
    ('held', 'pending', false, 1, 'it waits: for quiet hours to end, for a digest, or for more of the same burst'),
    ('waiting', 'pending', false, 1, 'a relay has it next, or tries again'),
    ('uncertain', 'pending', false, 1, 'it may have arrived: the answer was lost'),
    ('sent', 'sent', true, 3, 'the channel took it; mail by SMTP and Slack report nothing later'),
    ('past', 'sent', true, 3, 'so long ago that we only know that it is no longer under way'),
    ('shown', 'delivered', true, 4, 'it is in the inbox'),
    ('delivered', 'delivered', true, 4, 'the channel says that it arrived'),
    ('bounced', 'failed', true, 2, 'the address does not take mail'),
    ('complained', 'failed', true, 2, 'the recipient reported it as spam'),
    ('suppressed', 'failed', true, 2, 'this address gets no more mail'),
    ('expired', 'failed', true, 2, 'it would have come too late'),
    ('preference', 'failed', true, 2, 'the person does not want it by this channel'),
    ('no_address', 'failed', true, 2, 'no address of the person is known for this channel'),
    ('nobody', 'failed', true, 2, 'the person is no longer in the directory'),
    ('erased', 'failed', true, 2, 'what it said was erased before it was sent'),
    ('unsendable', 'failed', true, 2, 'no message could be made of it; the server''s log says why'),
    ('given_up', 'failed', true, 2, 'all its tries failed, and it is a dead letter')
$$;
comment on function notify.status_rules() is 'The states of a notification by a channel, with their meaning.';
