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
    ('capacity', v_all, v_open, 'what is asked for', '4 × 32XL in us-east-1'),
    ('terms', v_all, '{}'::text[], 'the request, the capacity and the next four, a line each', 'Request: CR-2026-000042 …'),
    ('needed_by', v_all, '{}', 'the day, if there is one', '2026-02-01'),
    ('days', v_all, '{}', 'for how many days', '30'),
    ('price', v_all, v_open, 'what the customer pays; absent where nothing is to be paid', 'USD 1,200.00 a month'),
    ('estimated_cost', v_all, '{}', 'the estimate; absent where there is a price or none was given', 'USD 12,500.00 a month'),
    ('what_happened', v_told, '{step,notice}', 'the sentence that the thread in Slack says', 'Rita asks for 4 × 32XL in us-east-1.'),
    ('review', '{asked,escalated,no_longer_asked}', '{asked,escalated,no_longer_asked}', 'which review it is', 'commercial'),
    ('justification', '{asked,escalated}', '{}', 'why it is needed, quoted, if somebody said so', '> We need it for the launch.'),
    ('quote', '{step,notice}', '{}', 'the words that somebody added, quoted', '> There is no other way.'),
    ('deadline', v_open, v_open, 'until when the customer may answer', '2026-01-10 10:00 UTC'),
    ('money_back', '{failed,cancelled}', '{}', 'there where the customer has paid, which goes back to them', 'yes'),
    ('reviews', '{digest}', '{digest}', 'the reviews that wait, a line each', '• CR-2026-000042: …'),
    ('summary', v_problems, '{}', 'by which rails, or the name of the only receiver', 'slack 2, email 1'),
    ('list', v_problems, v_problems, 'what was given up, or the receivers, a line each', '• stream people by email: 1 …'),
    ('count', v_problems, '{}', 'how many; absent where it is one', '3'),
    ('only_one', '{digest}', '{}', 'there where it is one review', 'yes');
  return query select v.variable, v.templates, v.required, v.meaning, v.example from notify.template_variables() v;
end
$$;
comment on function capacity.template_variables() is 'The variables of templates.';
