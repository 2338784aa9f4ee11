-- capacity.too_late() returns what it raised.
drop function if exists inbound.too_late(capacity.requests);
