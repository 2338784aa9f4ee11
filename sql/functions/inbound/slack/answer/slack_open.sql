-- Opens a form for the person who clicked or typed. This needs Slack's trigger, which expires after three seconds.
create or replace function inbound.slack_open(p_receipt jsonb, p_view jsonb) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
begin
  if not p_receipt ? 'trigger' then
    perform headroom.fail('invalid_input', 'Slack did not allow a form to be opened.', null,
                          'Type the command with its text instead; /capacity help shows how.');
  end if;
  perform inbound.enqueue_interaction(p_receipt, 'view',
    jsonb_build_object('method', 'views.open', 'trigger_id', p_receipt ->> 'trigger', 'view', p_view), interval '3 seconds');
end
$$;
comment on function inbound.slack_open(jsonb, jsonb) is 'Enqueues the opening of a form.';
