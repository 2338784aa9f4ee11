-- What Slack sends is handled with the row of its workspace, which is read once.
drop function if exists inbound.slack_home(text, text);
drop function if exists inbound.slack_workspace(text, text);
drop function if exists inbound.slack_member(text, jsonb);
drop function if exists inbound.slack_handle(jsonb);
drop function if exists inbound.slack_refused(jsonb, text, text, text);
drop function if exists inbound.slack_command(jsonb, directory.members);
drop function if exists inbound.slack_submission(jsonb, directory.members);
drop function if exists inbound.named_request(jsonb);
drop function if exists inbound.submit_terms(jsonb, directory.members, jsonb, text);
drop function if exists inbound.slack_submitted(capacity.requests);
drop function if exists inbound.slack_unasked(capacity.requests);
