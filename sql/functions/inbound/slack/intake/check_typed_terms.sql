-- Turns typed terms into numbers and dates, and explains the expected form of each wrong field. The same for the
-- command and for the form. Pure: `fields` has the good ones, `problems` a sentence for each bad one, with what was typed, `wrong` the
-- sentences by field, without it.
create or replace function inbound.check_typed_terms(p_terms jsonb, p_problems jsonb default '[]') returns jsonb
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
declare
  v_fields jsonb := '{}';
  v_wrong jsonb := '{}';
  v_problems jsonb := p_problems;
  v_value text;
  v_say text;
  v_name text;
begin
  for v_name, v_value in select t.key, btrim(t.value) from jsonb_each_text(p_terms) t loop
    continue when v_value = '';
    v_say := null;
    if v_name = 'quantity' then
      v_value := regexp_replace(v_value, '^[x×*]|[x×*]$', '', 'gi');
      v_say := case when v_value !~ '^\d{1,6}$' then 'Give the quantity as a whole number, such as x4.' end;
    elsif v_name in ('days', 'ttl') then
      v_say := case when v_value !~ '^\d{1,6}$' then 'Give the days as a whole number, such as days 30.' end;
    elsif v_name = 'cost' then
      v_value := regexp_replace(regexp_replace(v_value, '/mo(nth)?$', '', 'i'), '[$,]|usd', '', 'gi');
      v_value := case when v_value ~* '^\d{1,9}(\.\d{1,2})?k$' then (left(v_value, -1)::numeric * 1000)::text else v_value end;
      v_say := case when v_value !~ '^\d{1,13}(\.\d{1,2})?$' then 'Give the monthly cost in dollars, such as cost 12000.' end;
    elsif v_name = 'needed_by' then
      v_say := case when inbound.parse_date(v_value) is null then 'Give the date as year-month-day, such as by 2026-12-01.' end;
    elsif v_name = 'email' then
      v_say := coalesce(headroom.address_problem(v_value),
                        case when v_value !~ '@.+\.' then 'That is not an e-mail address. Its domain has no dot.' end);
    elsif v_name = 'owner' then
      v_value := coalesce(substring(v_value from '^<@([UW][A-Z0-9]{2,31})(?:\|[^>]*)?>$'), ltrim(v_value, '@'));
      v_say := case when v_value !~ '^[A-Za-z0-9][A-Za-z0-9._@-]{0,62}$' then 'Name the owner as @name or by their id.' end;
    elsif v_name = 'customer' then
      v_value := left(regexp_replace(v_value, '[[:cntrl:]\s]+', ' ', 'g'), 200);
    elsif v_name = 'region' then
      v_value := lower(v_value collate "C");
    elsif v_name = 'replaces' then
      v_value := upper(v_value collate "C");
    end if;
    if v_say is null then
      v_fields := v_fields || jsonb_build_object(v_name, v_value);
    else
      v_wrong := v_wrong || jsonb_build_object(v_name, v_say);
      v_problems := v_problems || to_jsonb(format('“%s”: %s', left(btrim(p_terms ->> v_name), 60), v_say));
    end if;
  end loop;
  return jsonb_build_object('fields', v_fields, 'wrong', v_wrong, 'problems', v_problems);
end
$$;
comment on function inbound.check_typed_terms(jsonb, jsonb) is 'Typed terms as fields, with a sentence for each that is wrong.';
