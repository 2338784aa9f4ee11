-- What is told of a request's money may be a notice of another kind: a payment that failed, which the customer hears of as well.
drop function if exists billing.tell(text, text, boolean, text);
