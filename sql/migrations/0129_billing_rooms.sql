-- The shape of an object of Stripe's is checked in one place, billing.plain_object. Only functions called these.
drop function if exists billing.plain_invoice(jsonb);
drop function if exists billing.subscription_of_invoice(jsonb);
drop function if exists billing.time_in(jsonb);
drop function if exists billing.without_people(jsonb);
