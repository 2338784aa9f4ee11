-- What is told and whom, as one row each: it took sixteen parameters.
create type notify.recipient as (
  workspace_id text,
  kind text,
  id text,
  address text,
  name text
);
comment on type notify.recipient
  is 'Whom something is told: a member or a group by its id; a customer by the id of what they are asked about, with address and name.';

create type notify.content as (
  category text,
  title text,
  body text,
  channels text[],
  priority integer,
  about text,
  cause text,
  action_url text,
  critical boolean,
  link jsonb,
  expires_at timestamptz
);
comment on type notify.content is 'What somebody is told. Without channels, those of its category; without critical, as its category is.';

drop function if exists notify.tell(
  text, text, text, text, text, text, text, text, text[], integer, timestamptz, text, text, text, jsonb, text);
drop function if exists notify.tell_members(text, text[], text, text, boolean, text, text, text[], integer, text, text, text);
drop function if exists notify.tell_member(text, text, text, text, text, text, text[], integer, timestamptz);
drop function if exists notify.told_problem(text, text, text, text, text[], integer, timestamptz);
drop function if exists notify.reach(text, text, text, text, text);
drop function if exists notify.member_named(text, text);

-- The channels are a view: the planner sees through it. What is said of each stands there and nowhere else, also which go to endpoints.
drop function if exists notify.channels();
drop function if exists notify.rail_of(text, text);
drop function if exists notify.destination_of(notify.notifications, text, text);
alter table notify.parts drop constraint parts_check3;

-- What one caller did, it does itself now.
drop function if exists notify.burst();
drop function if exists notify.choice_of(notify.notifications, text);
