-- The slash command in all its forms. The first word names the action. Text that begins with no known action but looks like a request
-- fills in the form; anything else is answered with the help and what was not understood.
create or replace function inbound.slack_command(
  p_receipt jsonb, p_home directory.workspaces, p_member directory.members
) returns jsonb
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_text text := btrim(coalesce(p_receipt ->> 'text', ''), E' \t\r\n');
  v_verb text := lower(substring(v_text from '^\S+') collate "C");
  v_rest text := btrim(regexp_replace(v_text, '^\S+', ''), E' \t\r\n');
  v_terms jsonb;
  v_submitted record;
  v_id text;
  v_request capacity.requests;
  v_message jsonb;
begin
  if v_text = '' or v_verb in ('new', 'open', 'form') or v_verb in ('create', 'request') and v_rest = '' then
    return inbound.slack_form(p_receipt, p_member, case when v_text = '' then '{}' else inbound.parse_terms(v_rest) -> 'fields' end);
  elsif v_verb in ('create', 'request') then
    v_terms := inbound.parse_terms(v_rest);
    if v_terms -> 'problems' <> '[]' then
      return inbound.slack_reply(notify.slack_text('Nothing was submitted. '
        || (select string_agg(p.value, ' ') from jsonb_array_elements_text(v_terms -> 'problems') p), 2500)
        || ' `/capacity help` shows what to type.', 'answered');
    end if;
    v_submitted := inbound.submit_terms(p_receipt, p_home, p_member, v_terms -> 'fields', p_receipt ->> 'channel');
    return inbound.slack_submitted(v_submitted.context, v_submitted.story);
  elsif v_verb in ('list', 'ls', 'mine') then
    return inbound.slack_reply(inbound.slack_list(p_member), 'answered');
  elsif v_verb in ('show', 'status') or v_text ~* '^cr-\d{4}-\d{6,}$' then
    -- The same message as in the request's thread, with the same buttons.
    v_request := (inbound.readable(
      p_member, upper(left(case when v_verb in ('show', 'status') then v_rest else v_text end, 80) collate "C"))).request;
    v_message := capacity.render_slack_root(capacity.story_now(v_request.id) || jsonb_build_object(
      'channel', coalesce(p_receipt ->> 'channel', v_request.slack_channel_id, 'none')), 'chat.postEphemeral');
    return inbound.slack_reply(v_message ->> 'text', 'answered', v_request.id, v_message -> 'blocks');
  elsif v_verb in ('approve', 'reject', 'confirm', 'decline', 'cancel') then
    return inbound.slack_decision(p_receipt, p_member, v_verb, v_rest);
  elsif v_verb in ('nudge', 'note', 'address', 'link', 'retry') then
    v_id := upper(substring(v_rest from '^\S+') collate "C");
    if v_id is null or v_id !~ '^CR-\d{4}-\d{6,}$' then
      return inbound.slack_reply(inbound.slack_help(format('Name the request, such as `/capacity %s CR-2026-000042`.', v_verb)),
                                 'answered');
    end if;
    v_rest := btrim(regexp_replace(v_rest, '^\S+', ''), E' \t\r\n');
    if v_verb = 'address' then
      -- Slack turns an address into a link.
      v_rest := regexp_replace(v_rest, '^<mailto:[^|>]*\|([^>]*)>$', '\1');
    end if;
    if v_verb = 'retry' then
      return inbound.slack_reply(notify.slack_text(inbound.slack_job_step(p_member, v_id, 'job_retry', v_rest), 3000), 'done', v_id);
    end if;
    return inbound.slack_reply(notify.slack_text(inbound.slack_follow_up(p_member, v_id, v_verb, v_rest, false), 3000), 'done', v_id);
  elsif v_verb in ('help', '?', '-h', '--help') then
    return inbound.slack_reply(inbound.slack_help(), 'answered');
  end if;
  v_terms := inbound.parse_terms(v_text);
  if v_terms -> 'recognised' = 'true' then
    return inbound.slack_form(p_receipt, p_member, v_terms -> 'fields');
  end if;
  return inbound.slack_reply(inbound.slack_help(format('I did not understand “%s”.', notify.render_text(v_text, 200))), 'answered');
end
$$;
comment on function inbound.slack_command(jsonb, directory.workspaces, directory.members) is 'Carries out a slash command and replies.';
