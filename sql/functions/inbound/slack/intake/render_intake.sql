-- The form for a new request, with the typed values prefilled. Pure. It fits Slack's limits for any input: values are cut to
-- the size of their field, and groups that do not fit in the menu are left to the command. The form names the receipt that opened it,
-- so that the prefilled values are known to belong to the request made from it.
create or replace function inbound.render_intake(
  p_fields jsonb, p_groups jsonb, p_channel text, p_receipt_id text default null
) returns jsonb
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
declare
  v_groups jsonb := (
    select jsonb_agg(jsonb_build_object('text', notify.slack_plain(notify.render_text(g.value ->> 'name', 75)),
                                        'value', left(g.value ->> 'id', 75)) order by g.ordinality)
      from jsonb_array_elements(p_groups) with ordinality g
     where g.ordinality <= 100 and g.value ->> 'name' <> '' and g.value ->> 'id' <> '');
begin
  return inbound.render_modal(
    'capacity_intake', 'Request capacity', 'Submit', 'Cancel',
    jsonb_build_object('channel', left(p_channel, 32), 'opened_by', left(p_receipt_id, 200)),
    inbound.render_input('size', 'Size', 'plain_text_input', false, p_fields ->> 'size', 'Such as 32XL', 32),
    inbound.render_input('quantity', 'How many', 'number_input', false, coalesce(p_fields ->> 'quantity', '1')),
    inbound.render_input('region', 'Region', 'plain_text_input', false, p_fields ->> 'region', 'Such as us-east-1', 32),
    inbound.render_input('customer', 'Customer', 'plain_text_input', true, p_fields ->> 'customer', 'Who it is for', 200),
    inbound.render_input('email', 'Customer''s e-mail address', 'email_text_input', true, p_fields ->> 'email',
                         'The customer''s link goes there. Without an address the commercial owner has to ask the customer.'),
    inbound.render_input('needed_by', 'Needed by', 'datepicker', true, p_fields ->> 'needed_by'),
    inbound.render_input('days', 'For how many days', 'number_input', true, p_fields ->> 'days'),
    inbound.render_input('cost', 'Estimated cost per month, in dollars', 'number_input', true, p_fields ->> 'cost'),
    inbound.render_input('justification', 'Why it is needed', 'text_area', true, p_fields ->> 'justification',
                         'Those who decide read it. The customer does not.', 2000),
    inbound.render_input('owner', 'Commercial owner', 'users_select', true, p_fields ->> 'owner', 'Needed where no rule names one'),
    case when v_groups is not null then
      inbound.render_input('group', 'Infra group', 'static_select', true, p_fields ->> 'group', p_options => v_groups) end);
end
$$;
comment on function inbound.render_intake(jsonb, jsonb, text, text) is 'The view of the form for a new request.';
