-- The content of inboxes, without the categories that a person has switched off there.
create or replace view notify.shown as
select p.notification_id from notify.parts p where p.channel = 'in-app' and p.state = 'shown';
comment on view notify.shown is 'The content of inboxes.';
