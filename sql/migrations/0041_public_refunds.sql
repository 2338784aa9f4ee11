-- A refund by a person may say how much they saw to be left, so that a repeated call refunds once.
drop function if exists public.refund_payment(text, text, bigint, text);
drop function if exists billing.refund_by_person(billing.payments, capacity.actor, text, bigint);
