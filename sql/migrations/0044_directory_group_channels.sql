-- A group may have a channel of its own in Slack, where it is told what its members would else be told one by one.
alter table directory.groups add column slack_channel_id text check (slack_channel_id ~ '^[A-Z0-9]{2,32}$');
comment on column directory.groups.slack_channel_id is 'Where the group is told which reviews wait for it; null: its members are told.';
drop function if exists directory.put_group(text, text, text, text[], text[]);
drop function if exists directory.list_groups(text);
