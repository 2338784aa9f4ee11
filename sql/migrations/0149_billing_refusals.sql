-- billing.operator_refusal() returns what it raised.
drop function if exists billing.operators_reason(text, capacity.actor, text, text);
