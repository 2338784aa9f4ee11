-- What stands in an inbox: a person who switched the inbox off for a category has nothing of it there.
create or replace view notify.shown as
select p.notification_id from notify.parts p where p.channel = 'in-app' and p.state = 'shown';
comment on view notify.shown is 'What stands in an inbox.';
