-- What can be done for a customer who is not asked depends on whether paying is their answer.
drop function if exists capacity.unasked_remedy(text, text, text);
