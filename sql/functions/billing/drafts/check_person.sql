-- Step 3 of the wizard, who orders: the values as they are kept, and what is wrong with each. Pure.
create or replace function billing.check_person(p_values jsonb, out terms jsonb, out problems jsonb)
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
declare
  v_name text := coalesce(btrim(p_values ->> 'name'), '');
  v_organisation text := coalesce(btrim(p_values ->> 'organisation'), '');
  v_email text := coalesce(btrim(p_values ->> 'email'), '');
  v_hidden constant text := '[\u0001-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]';
begin
  problems := '{}';
  if v_name = '' then
    problems := problems || '{"name": "Tell us your name."}';
  elsif length(v_name) > 200 or v_name ~ v_hidden then
    problems := problems || '{"name": "A name has up to 200 characters, all of them visible."}';
  end if;
  if length(v_organisation) > 200 or v_organisation ~ v_hidden then
    problems := problems || '{"organisation": "An organisation has up to 200 characters, all of them visible."}';
  end if;
  if v_email = '' then
    problems := problems || '{"email": "Give your e-mail address: we send you a link to it."}';
  elsif headroom.address_problem(v_email) is not null then
    problems := problems || jsonb_build_object('email', headroom.address_problem(v_email));
  elsif v_email !~ '@.+\.' then
    problems := problems || '{"email": "That is not an e-mail address. Its domain has no dot."}';
  end if;
  terms := jsonb_build_object('name', v_name, 'organisation', nullif(v_organisation, ''), 'email', v_email);
end
$$;
comment on function billing.check_person(jsonb) is 'Who orders, as it is kept, and what is wrong with it.';
