-- The values that templates have for a story, named as in capacity.template_variables(); unknown ones are absent. Members get
-- the sentence that the thread shows, and other people's words, quoted; the customer never does, since colleagues gave each other reasons.
create or replace function capacity.tell_values(p_story jsonb, p_template text, p_step text) returns jsonb
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
declare
  v_lines text[];
  v_request text := p_story ->> 'id';
  v_capacity text := p_story ->> 'what';
  v_needed_by text := p_story ->> 'needed_by';
  v_days text := p_story ->> 'duration_days';
  v_price text := case when p_story ? 'offer' then capacity.story_price(p_story) end;
  v_cost text := case when v_price is null then capacity.render_money(p_story -> 'monthly_cost') end;
  v_values jsonb;
begin
  if p_template = 'digest' then
    v_lines := capacity.story_digest(p_story);
    return jsonb_build_object('reviews', '• ' || nullif(array_to_string(v_lines, E'\n• '), ''),
                              'only_one', case when cardinality(v_lines) = 1 then 'yes' end);
  end if;
  -- Nearly every story needs no cleaning, which one check of the whole finds out.
  if concat(v_request, v_capacity, v_needed_by, v_days, v_price, v_cost) ~ '[^\u0020-\u007a\u007c-\u007e\u00a0-\u02ff]'
     or octet_length(concat(v_request, v_capacity, v_needed_by, v_days, v_price, v_cost)) > 200 then
    v_request := notify.email_text(v_request, 100);
    v_capacity := notify.email_text(v_capacity, 300);
    v_needed_by := notify.email_text(v_needed_by, 50);
    v_days := notify.email_text(v_days, 50);
    v_price := notify.email_text(v_price, 100);
    v_cost := notify.email_text(v_cost, 100);
  end if;
  v_values := jsonb_build_object(
    'request', v_request, 'capacity', v_capacity, 'needed_by', v_needed_by, 'days', v_days, 'price', v_price,
    'estimated_cost', v_cost || ' a month',
    'terms', concat_ws(E'\n', 'Request: ' || v_request, 'Capacity: ' || v_capacity, 'Needed by: ' || v_needed_by,
                       'For: ' || v_days || ' days', coalesce('Price: ' || v_price, 'Estimated cost: ' || v_cost || ' a month')));
  if p_template in ('asked', 'escalated', 'no_longer_asked') then
    return v_values || jsonb_build_object(
      'what_happened', notify.email_text(capacity.story_sentence(p_story), 1000), 'review', p_step,
      'justification', case when p_template <> 'no_longer_asked'
                            then '> ' || replace(notify.render_text(p_story ->> 'justification', 4000), E'\n', E'\n> ') end);
  elsif p_template in ('step', 'notice') then
    return v_values || jsonb_build_object(
      'what_happened', notify.email_text(capacity.story_sentence(p_story), 1000),
      'quote', case when p_story ->> 'reason' <> ''
                    then '> ' || replace(notify.render_text(p_story ->> 'reason', 4000), E'\n', E'\n> ') end);
  elsif p_template in ('offer', 'warning', 'payment_failed') then
    return v_values || jsonb_build_object('deadline', coalesce(capacity.render_time(p_story -> 'deadline'), 'the deadline'));
  elsif p_template in ('failed', 'cancelled') and p_story ->> 'state_before' = 'PROVISIONING' and v_price is not null then
    -- A request that reached provisioning has been paid.
    return v_values || '{"money_back": "yes"}';
  end if;
  return v_values;
end
$$;
comment on function capacity.tell_values(jsonb, text, text) is 'The values that templates have for a story. Nullable: p_step.';
