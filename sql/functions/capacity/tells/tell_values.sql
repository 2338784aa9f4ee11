-- What a template can say of a story, by the names that capacity.template_variables() explains; what is not known is absent. Members hear
-- the sentence that the thread says, and other people's words, quoted; the customer never does, since colleagues gave each other reasons.
create or replace function capacity.tell_values(p_story jsonb, p_template text, p_step text) returns jsonb
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
declare
  v_lines text[];
  v_request text;
  v_capacity text;
  v_needed_by text;
  v_days text;
  v_price text;
  v_cost text;
  v_values jsonb;
begin
  if p_template = 'digest' then
    v_lines := capacity.story_digest(p_story);
    return jsonb_build_object('reviews', '• ' || nullif(array_to_string(v_lines, E'\n• '), ''),
                              'only_one', case when cardinality(v_lines) = 1 then 'yes' end);
  end if;
  v_request := notify.email_text(p_story ->> 'id', 100);
  v_capacity := notify.email_text(p_story ->> 'what', 300);
  v_needed_by := notify.email_text(p_story ->> 'needed_by', 50);
  v_days := notify.email_text(p_story ->> 'duration_days', 50);
  v_price := notify.email_text(capacity.story_price(p_story), 100);
  if v_price is null then
    v_cost := notify.email_text(capacity.render_money(p_story -> 'monthly_cost'), 100) || ' a month';
  end if;
  v_values := jsonb_build_object(
    'request', v_request, 'capacity', v_capacity, 'needed_by', v_needed_by, 'days', v_days, 'price', v_price, 'estimated_cost', v_cost,
    'terms', concat_ws(E'\n', 'Request: ' || v_request, 'Capacity: ' || v_capacity, 'Needed by: ' || v_needed_by,
                       'For: ' || v_days || ' days', coalesce('Price: ' || v_price, 'Estimated cost: ' || v_cost)));
  if p_template in ('asked', 'escalated', 'no_longer_asked') then
    return v_values || jsonb_build_object('what_happened', notify.email_text(capacity.story_sentence(p_story), 1000), 'review', p_step);
  elsif p_template in ('step', 'notice') then
    return v_values || jsonb_build_object(
      'what_happened', notify.email_text(capacity.story_sentence(p_story), 1000),
      'quote', '> ' || replace(notify.render_text(nullif(coalesce(p_story ->> 'body', p_story ->> 'reason'), ''), 4000), E'\n', E'\n> '));
  elsif p_template in ('offer', 'warning', 'payment_failed') then
    return v_values || jsonb_build_object('deadline', coalesce(capacity.render_time(p_story -> 'deadline'), 'the deadline'));
  elsif p_template in ('failed', 'cancelled') and p_story ->> 'state_before' = 'PROVISIONING' and v_price is not null then
    -- Whoever came as far as provisioning has paid.
    return v_values || '{"money_back": "yes"}';
  end if;
  return v_values;
end
$$;
comment on function capacity.tell_values(jsonb, text, text) is 'What a template can say of a story. Nullable: p_step.';
