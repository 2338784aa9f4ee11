-- What the customer is asked about, a line each.
create or replace function capacity.email_facts(p_story jsonb) returns text
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
begin
  return concat_ws(E'\n',
    'Request: ' || capacity.email_text(p_story ->> 'id', 100),
    'Capacity: ' || capacity.email_text(p_story ->> 'what', 300),
    'Needed by: ' || capacity.email_text(p_story ->> 'needed_by', 50),
    'For: ' || capacity.email_text(p_story ->> 'duration_days', 50) || ' days',
    coalesce('Price: ' || capacity.email_text(capacity.story_price(p_story), 100),
             'Estimated cost: ' || capacity.email_text(capacity.render_money(p_story -> 'monthly_cost'), 100) || ' a month'));
end
$$;
comment on function capacity.email_facts(jsonb) is 'The terms of a request, for a mail.';
