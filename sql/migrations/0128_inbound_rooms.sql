-- Functions that were merged into their only caller, or into one for all receivers. Only functions called them.
drop function if exists inbound.callback_stamp_problem(text, text);
drop function if exists inbound.slack_stamp_problem(text, text);
drop function if exists inbound.stripe_stamp_problem(text);
drop function if exists inbound.verify_slack_signature(text, text, text);
drop function if exists inbound.verify_stripe_signature(text, text);
-- Messages in Slack are put together as data.
drop function if exists capacity.slack_safe(jsonb);
drop function if exists headroom.json_text(text);
drop function if exists inbound.render_input(text, text, text, boolean, text, text, integer);
drop function if exists capacity.note_timer_run(text, integer);
drop function if exists inbound.postal_row(jsonb);
drop function if exists inbound.slack_member(directory.workspaces, jsonb);
drop function if exists inbound.slack_show(directory.members, text, text);
