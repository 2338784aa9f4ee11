-- Actions on a request that decide nothing: `nudge`, `note`, `link` and `address`, by the same functions as every other
-- entrance. Says in words what was done. People who see a request's message in a channel know that it exists; everybody else is told that
-- there is no such request, unless they may read it.
create or replace function inbound.slack_follow_up(
  p_member directory.members, p_request_id text, p_follow_up text, p_words text, p_seen boolean
) returns text
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_actor capacity.actor := row('user', p_member.id, 'slack');
  v_known record := inbound.readable(p_member, p_request_id, p_seen);
  v_request capacity.requests := v_known.request;
  v_done jsonb;
begin
  if p_follow_up = 'nudge' then
    v_done := capacity.nudge(v_request, v_actor);
    return format('%s: %s. You can nudge again from %s on.', v_request.id,
      coalesce((select string_agg(a.value ->> 'name', ', ' order by a.ordinality)
                  from jsonb_array_elements(v_done -> 'asked') with ordinality a)
               || ' will be asked to decide', 'noted, but there is nobody to ask'),
      capacity.render_time(to_jsonb(extract(epoch from (v_done ->> 'next_nudge_at')::timestamptz))));
  elsif p_follow_up = 'note' then
    if not v_known.reads then
      perform headroom.fail('not_allowed', 'Only people who may read a request can add notes to it.', v_request.id,
                            'Nothing was changed.');
    end if;
    v_done := capacity.note(v_request, v_actor, p_words);
    return format('%s: your note was added.', v_request.id);
  end if;
  v_done := capacity.ask_customer(v_request, v_actor, case p_follow_up when 'address' then coalesce(p_words, '') end);
  return v_request.id || ': ' || concat_ws(' ',
    case when v_done -> 'repeated' = 'true' then 'that is already the customer''s address; nothing was changed.'
         when v_done -> 'mailed' = 'true' then 'the link is on its way to the customer.'
         else 'the customer''s address was added.' end,
    capacity.unasked_words(v_done ->> 'customer_unasked', v_request.state::text),
    capacity.unasked_remedy(v_done ->> 'customer_unasked', v_request.id, v_request.state::text, v_request.offer is not null));
end
$$;
comment on function inbound.slack_follow_up(directory.members, text, text, text, boolean)
  is 'Nudges, notes, or has the customer asked, for a member in Slack, and says what was done. Nullable: p_words.';
