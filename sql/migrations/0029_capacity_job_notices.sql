-- Notices about a request's provisioning job, which the layer above posts in words of its own.
alter table capacity.notices drop constraint notices_kind_check;
alter table capacity.notices add constraint notices_kind_check
  check (kind in ('warning', 'reminder', 'late', 'nudge', 'note', 'unasked', 'address', 'link', 'job'));
alter table capacity.notices add column said text check (length(said) <= 500);
comment on column capacity.notices.said is 'What a layer above said, in its own words; those of other people stand in the body.';
-- It says now in whose words, and whom it calls upon.
drop function if exists capacity.post_notice(capacity.requests, text, text, text, capacity.actor, text);
