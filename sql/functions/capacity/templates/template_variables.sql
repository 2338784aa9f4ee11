-- The variables of templates: capacity.tell_values() makes the values of the workflow. A template must show each required variable
-- whenever it has a value, directly or within the terms.
create or replace function capacity.template_variables()
returns table (variable text, templates text[], required text[], meaning text, example text)
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
declare
  v_told constant text[] := '{step,asked,escalated,no_longer_asked,notice}';
  v_open constant text[] := '{offer,warning,payment_failed}';
  v_all constant text[] := v_told || v_open || '{confirmed,completed,failed,declined,expired,cancelled,refunded}'::text[];
  v_problems constant text[] := '{dead_letters,circuit_open,circuit_closed}';
begin
  return query values
    ('request', v_all, v_all, 'the id of the request', 'CR-2026-000042'),
    ('capacity', v_all, v_open, 'the requested capacity', '4 × 32XL in us-east-1'),
    ('terms', v_all, '{}'::text[], 'the request, the capacity and the next four variables, one line each', 'Request: CR-2026-000042 …'),
    ('needed_by', v_all, '{}', 'the day, if there is one', '2026-02-01'),
    ('days', v_all, '{}', 'for how many days', '30'),
    ('price', v_all, v_open, 'what the customer pays; absent if there is nothing to pay', 'USD 1,200.00 a month'),
    ('estimated_cost', v_all, '{}', 'the estimate; absent if there is a price or no estimate', 'USD 12,500.00 a month'),
    ('what_happened', v_told, '{step,notice}', 'the same sentence as in the Slack thread', 'Rita asks for 4 × 32XL in us-east-1.'),
    ('review', '{asked,escalated,no_longer_asked}', '{asked,escalated,no_longer_asked}', 'the review', 'commercial'),
    ('justification', '{asked,escalated}', '{}', 'why it is needed, quoted, if given', '> We need it for the launch.'),
    ('quote', '{step,notice}', '{}', 'the words that somebody added, quoted', '> There is no other way.'),
    ('deadline', v_open, v_open, 'the deadline for the customer''s answer', '2026-01-10 10:00 UTC'),
    ('money_back', '{failed,cancelled}', '{}', 'set if the customer has paid and gets the money back', 'yes'),
    ('reviews', '{digest}', '{digest}', 'the waiting reviews, one line each', '• CR-2026-000042: …'),
    ('summary', v_problems, '{}', 'the rails, or the name of the only receiver', 'slack 2, email 1'),
    ('list', v_problems, v_problems, 'the messages given up, or the receivers, one line each', '• stream people by email: 1 …'),
    ('count', v_problems, '{}', 'how many; absent if it is one', '3'),
    ('only_one', '{digest}', '{}', 'set if it is exactly one review', 'yes');
  return query select v.variable, v.templates, v.required, v.meaning, v.example from notify.template_variables() v;
end
$$;
comment on function capacity.template_variables() is 'The variables of templates.';
