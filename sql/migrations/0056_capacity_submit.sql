-- A submission is given its workspace, and answers with what is known of the request and with its story; the reviewers of a plan are read
-- with the rest of it.
drop function if exists capacity.submit(
  capacity.actor, text, text, text, jsonb, text, integer, text, date, integer, numeric, integer, text, text, text, text);
drop function if exists capacity.check_terms(jsonb, text, integer, text, date, integer, numeric, integer, text, text);
drop function if exists capacity.check_channel(text, text, text);
drop function if exists capacity.commercial_reviewers(text, text, text, jsonb);
drop function if exists capacity.technical_reviewers(text, text, text);
