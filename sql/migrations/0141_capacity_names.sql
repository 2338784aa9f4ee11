-- Functions with a new name that says what they do. Only functions called them.
drop function if exists capacity.may_tell(text, text);
drop function if exists capacity.name_by_address(capacity.requests, text);
drop function if exists capacity.name_customer(text, text, text, jsonb);
drop function if exists capacity.set_aside(text, jsonb);
drop function if exists capacity.timer_above(integer);
