-- Grants of the schema `public`: everything is revoked first, then exactly this is granted. Only the owner writes
-- tables: the definer functions are the only way in. Functions that are not named here are internal and run only inside those.
select headroom.close_schema('public');

grant select on
  public.capacity_requests, public.capacity_request_events,
  public.capacity_approval_latency, public.capacity_backlog, public.capacity_outcomes, public.capacity_provisioning_duration,
  public.capacity_time_in_state,
  public.provisioning_jobs,
  public.payments, public.billing_balance,
  public.notification_outbox
to authenticated, service_role, headroom_control, headroom_auditor;

-- What members do, machines do for them, and operators do at the command line. Each of these finds out who calls.
grant execute on function
  public.create_capacity_request,
  public.preview_capacity_request,
  public.apply_capacity_event(text, public.capacity_request_event_type, public.capacity_request_actor_type, text, jsonb, integer),
  public.decide_capacity_request(text, public.capacity_request_event_type, text, jsonb, integer),
  public.get_capacity_request(text),
  public.capacity_verdicts(text[], text[], text),
  public.get_capacity_receipt(text, integer),
  public.nudge_capacity_request(text, text),
  public.note_capacity_request(text, text, text),
  public.set_customer_address(text, text, text),
  public.send_confirmation_link(text, text),
  public.erase_customer(text, text, text),
  public.get_provisioning_job(text),
  public.retry_provisioning_job(text, text, text, integer),
  public.fail_provisioning_job(text, text, text, integer),
  public.complete_provisioning_job(text, text, text, integer),
  public.clean_provisioning_job(text, text, text, integer),
  public.get_payment(text),
  public.get_payments(text),
  public.refund_payment(text, text, bigint, text, bigint),
  public.end_subscription(text, text, text),
  public.get_notification_preferences(text, text),
  public.set_notification_preferences(jsonb, text, text)
to authenticated, service_role, headroom_control;

-- A member's own inbox.
grant select on public.notifications to authenticated;
grant execute on function
  public.list_inbox(uuid, integer, text),
  public.unread_notifications(),
  public.mark_notification_read(uuid),
  public.mark_all_notifications_read(timestamptz)
to authenticated;

-- Admins manage the endpoints of their workspace, machines all of them.
grant execute on function
  public.list_endpoints(text),
  public.put_endpoint(text, text, text[], text, jsonb, text),
  public.remove_endpoint(text, text),
  public.rotate_endpoint_secret(text, integer, text),
  public.enable_endpoint(text, text),
  public.disable_endpoint(text, text, text)
to authenticated, service_role;

-- Admins change what messages say in their workspace, machines and operators in any.
grant execute on function
  public.list_notification_templates(text),
  public.get_notification_template(text, text, text),
  public.preview_notification_template(text, text, text, text, text),
  public.set_notification_template(text, text, text, text, text),
  public.reset_notification_template(text, text, text)
to authenticated, service_role, headroom_control;

-- The holder of a confirmation link.
grant execute on function
  public.describe_confirmation(text),
  public.decide_by_token(text, text, text),
  public.begin_checkout(text, text),
  public.get_checkout(text)
to anon, authenticated, service_role;

-- A customer in the self-service wizard, with a draft's token or the link in its mail.
grant execute on function
  public.begin_draft(text),
  public.describe_draft(text, text),
  public.save_draft(text, text, integer, integer, jsonb),
  public.send_draft_link(text, text),
  public.submit_draft(text, text, integer, text)
to anon, authenticated, service_role;

-- The holder of the link at the end of a mail.
grant execute on function public.describe_unsubscribe(text), public.unsubscribe(text), public.resubscribe(text)
to anon, authenticated, service_role;

-- Members set their own webhook, admins and machines anybody's.
grant execute on function public.set_slack_webhook(text, text, text) to authenticated, service_role, headroom_control;

-- Who is signed in, and what happened lately. The latter runs with the caller's rights, so that row-level security decides what it shows.
grant execute on function
  public.who_am_i(),
  public.sign_out_everywhere()
to authenticated;
grant execute on function
  public.recent_capacity_events(bigint, integer)
to authenticated, service_role;

-- Calls of our own server on nobody's behalf; a purpose that only it can state protects these against the holders of service keys.
grant execute on function
  public.sign_in_member(text, text, text, boolean),
  public.list_personas(),
  public.webhook_keys(text),
  public.recently_told(bigint),
  public.record_receipt(text, text, text, jsonb)
to service_role;

-- Webhooks of providers: the signature is the credential. And the gate before every request, which needs none.
grant execute on function
  public.handle_slack_webhook(text),
  public.handle_linear_webhook(text),
  public.handle_github_webhook(text),
  public.handle_stripe_webhook(text),
  public.handle_provisioning_callback(text),
  public.check_request()
to anon, authenticated, service_role;


grant execute on function
  public.run_capacity_request_timers(integer, text)
to headroom_executor, headroom_control, service_role;

-- Machines and control notify people, by a call or by an insert; due notifications are sent by any caller that runs the clock.
grant execute on function public.notify(text, text, text, text, text, text, text[], integer, timestamptz)
to service_role, headroom_control;
grant insert on public.notification_outbox to service_role, headroom_control;
grant execute on function public.notification_dispatcher() to service_role, headroom_control, headroom_executor;

-- And the logins that an operator named, whose rights were lost with everybody's when the view or the function was created again.
select notify.grant_producer(p.role_name) from notify.producers p;
