-- A request is found by the value of a thread or an issue. While this index had the name first, a plan that was made while there was little
-- looked through the values of all requests for what one of them has; a hash answers only whoever knows the value.
drop index capacity.request_captures_value;
create index request_captures_value on capacity.request_captures using hash (value);
