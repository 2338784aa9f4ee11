-- The shape of an object of Stripe's is checked in one place, billing.plain_object. Only functions called these.
drop function if exists billing.plain_invoice(jsonb);
drop function if exists billing.subscription_of_invoice(jsonb);
drop function if exists billing.time_in(jsonb);
drop function if exists billing.without_people(jsonb);
-- Merged into their only callers.
drop function if exists billing.note_customer_asked(billing.payments, billing.refunds);
drop function if exists billing.refunds_too_much(billing.payments, billing.refunds, jsonb);
drop function if exists provisioning.count_callback(provisioning.attempts);
drop function if exists provisioning.terms_for_run(provisioning.jobs, provisioning.attempts);
