-- Whoever tells several members something says whether it is critical, and hears how many were told.
drop function if exists notify.tell_members(text, text[], text, text, text, text, text[], integer, text, text, text);
-- What people are told of is a view: the planner sees through it.
drop function if exists notify.categories();
