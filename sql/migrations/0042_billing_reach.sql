-- Who may see the money of a request is asked in one place.
drop function if exists billing.may_see(billing.payments, text);
drop function if exists billing.no_such_payment(text);
