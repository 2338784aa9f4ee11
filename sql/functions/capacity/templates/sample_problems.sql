-- Invented problems for checking the templates for operators.
create or replace function capacity.sample_problems() returns table (template text, sample text, facts jsonb)
language sql immutable set search_path = pg_catalog, pg_temp
as $$
  values
    ('dead_letters', 'several', '{
      "count": 3, "rails": [{"rail": "slack", "count": 2}, {"rail": "email", "count": 1}],
      "streams": [{"stream": "capacity", "rail": "slack", "count": 2, "code": "channel_not_found"},
                  {"stream": "people", "rail": "email", "count": 1, "code": "smtp_5xx"}]}'::jsonb),
    ('dead_letters', 'one', '{
      "count": 1, "rails": [{"rail": "slack", "count": 1}],
      "streams": [{"stream": "capacity", "rail": "slack", "count": 1, "code": "channel_not_found"}]}'),
    ('circuit_open', 'one', '{"count": 1, "destinations": [{"name": "Slack (C0CAPACITY)", "code": "http_503"}]}'),
    ('circuit_open', 'several', '{"count": 2, "destinations": [{"name": "Slack (C0CAPACITY)", "code": "http_503"}, {"name": "mail"}]}'),
    ('circuit_closed', 'one', '{"count": 1, "destinations": [{"name": "Slack (C0CAPACITY)"}]}'),
    ('circuit_closed', 'several', '{"count": 2, "destinations": [{"name": "Slack (C0CAPACITY)"}, {"name": "mail"}]}')
$$;
comment on function capacity.sample_problems() is 'Samples for checking the templates for operators.';
