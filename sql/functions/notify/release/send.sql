-- Makes one message of what one person is told by one channel, and enqueues it. If the person cannot be reached there any more, it returns
-- the reason and sends nothing. A message that cannot be made does not stop the caller's decision, or other notifications. Failures that
-- pass automatically, such as a deadlock, are for the caller to try again. The caller notes what the message carries; what it shows only
-- the beginning of is put into the inbox here. p_endpoint_id: to which of the workspace's endpoints, for a channel that goes to endpoints.
create or replace function notify.send(
  p_told notify.notifications[], p_channel text, p_endpoint_id text default '', out delivery_id uuid, out problem text
)
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_first notify.notifications := p_told[1];
  v_channel record;
  v_reach record := notify.reach(
    notify.recipient(v_first.workspace_id, v_first.recipient_kind, v_first.recipient, v_first.address), p_channel);
  v_expires timestamptz := v_first.expires_at;
  v_row record;
  v_each notify.notifications;
begin
  problem := v_reach.problem;
  select c.rail, c.destination, c.to_endpoints into strict v_channel from notify.channels c where c.channel = p_channel;
  if v_channel.to_endpoints then
    v_reach.address := (select e from notify.endpoints_for(v_first.workspace_id) e where e = p_endpoint_id);
    problem := coalesce(problem, case when v_reach.address is null then 'no_address' end);
  end if;
  if problem is not null then
    return;
  end if;
  if cardinality(p_told) > 1 then
    v_expires := (select min(n.expires_at) from unnest(p_told) n);
  end if;
  delivery_id := gen_random_uuid();
  begin
    v_row := outbox.add_row(
      false, v_first.workspace_id, 'people', null, delivery_id::text, p_channel,
      -- In Slack, prefer a person's own webhook to the bot.
      case when p_channel = 'slack' and v_reach.address like 'webhook:%' then 'slack-webhook' else v_channel.rail end,
      notify.message(p_told, p_channel, v_reach.address, coalesce(v_reach.name, v_first.name)), v_first.priority,
      p_expires_at => v_expires,
      p_destination => replace(replace(v_channel.destination, '{workspace}', v_first.workspace_id), '{address}', v_reach.address));
  exception
    when transaction_rollback or lock_not_available or operator_intervention or insufficient_resources
         -- A function that is being replaced, or a missing right: this says nothing about the message.
         or syntax_error_or_access_rule_violation or internal_error then
      raise;
    when others or assert_failure then
      raise warning 'Notification % cannot be sent by %: %', v_first.id, p_channel, sqlerrm using errcode = sqlstate;
      delivery_id := null;
      problem := 'unsendable';
      return;
  end;
  insert into notify.deliveries (id, workspace_id, recipient_kind, recipient, channel, priority, outbox_id, address_mark)
  values (delivery_id, v_first.workspace_id, v_first.recipient_kind, v_first.recipient, p_channel, v_first.priority, v_row.outbox_id,
          v_reach.mark);
  if p_channel = 'slack' and v_first.recipient_kind = 'member' then
    foreach v_each in array p_told loop
      -- Escaping makes at most five characters of one.
      if length(v_each.body) > 1800 and (notify.slack_sections(v_each.title, v_each.body)).cut then
        perform notify.put_in_inbox(v_each);
      end if;
    end loop;
  end if;
end
$$;
comment on function notify.send(notify.notifications[], text, text)
  is 'Sends one message that tells a person one or several things. Nullable: delivery_id, problem.';
