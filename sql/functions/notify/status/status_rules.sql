-- What a notification's way by one channel is called, by how far it came: the one table. `rank` orders them: overall a notification is as
-- far as the worst that is unfinished, else as the best. The documentation is drawn from it.
create or replace function notify.status_rules() returns table (stage text, status text, finished boolean, rank integer, meaning text)
language sql immutable security definer set search_path = pg_catalog, pg_temp
as $$
  values
    ('held', 'pending', false, 1, 'it waits: for quiet hours to end, for a digest, or for more of the same burst'),
    ('waiting', 'pending', false, 1, 'a relay has it next, or tries again'),
    ('uncertain', 'pending', false, 1, 'it may have arrived: the answer was lost'),
    ('sent', 'sent', true, 3, 'the channel took it; of mail by SMTP and of Slack nothing more is heard'),
    ('past', 'sent', true, 3, 'so long ago that it is only known that it is not under way any more'),
    ('shown', 'delivered', true, 4, 'it stands in the inbox'),
    ('delivered', 'delivered', true, 4, 'the channel says that it arrived'),
    ('bounced', 'failed', true, 2, 'the address does not take mail'),
    ('complained', 'failed', true, 2, 'the recipient called it spam'),
    ('suppressed', 'failed', true, 2, 'nothing goes to this address any more'),
    ('expired', 'failed', true, 2, 'it would have come too late'),
    ('preference', 'failed', true, 2, 'the person does not want it by this channel'),
    ('no_address', 'failed', true, 2, 'nobody knows where the person is reached by this channel'),
    ('nobody', 'failed', true, 2, 'the person is not in the directory any more'),
    ('erased', 'failed', true, 2, 'what it said was erased before it was sent'),
    ('unsendable', 'failed', true, 2, 'no message could be made of it; the server''s log says why'),
    ('given_up', 'failed', true, 2, 'it was tried as often as it may be, and is a dead letter')
$$;
comment on function notify.status_rules() is 'What a notification''s way by a channel is called.';
