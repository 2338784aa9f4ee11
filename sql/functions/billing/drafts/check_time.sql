-- Step 2 of the wizard, when and for how long: the values as they are kept, and what is wrong with each. This step knows whether there is a
-- price, because a price may depend on the duration.
create or replace function billing.check_time(p_workspace_id text, p_capacity jsonb, p_values jsonb, out terms jsonb, out problems jsonb)
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_date text := coalesce(btrim(p_values ->> 'needed_by'), '');
  v_days text := coalesce(btrim(p_values ->> 'duration_days'), '');
  v_today date := (clock_timestamp() at time zone 'UTC' - interval '12 hours')::date;
  v_day date;
  v_durations text;
  v_price record;
begin
  problems := '{}';
  begin
    v_day := case when v_date ~ '^[0-9]{4}-[0-9]{2}-[0-9]{2}$' then v_date::date end;
  exception when datetime_field_overflow or invalid_datetime_format then
    v_day := null;
  end;
  if v_date <> '' and v_day is null then
    problems := problems || '{"needed_by": "Give a date as year, month and day, such as 2027-03-31, or leave it empty."}';
  elsif v_day not between v_today and v_today + 3650 then
    problems := problems || '{"needed_by": "Give a date from today on, within ten years."}';
  end if;
  if v_days <> '' and (v_days !~ '^[0-9]{1,6}$' or v_days::integer not between 1 and 3650) then
    problems := problems || '{"duration_days": "Give a whole number of days from 1 to 3650."}';
  end if;
  terms := jsonb_build_object('needed_by', nullif(v_date, ''),
                              'duration_days', case when problems ? 'duration_days' then to_jsonb(v_days)
                                                    else to_jsonb(nullif(v_days, '')::integer) end);
  if not problems ? 'duration_days' then
    v_price := billing.draft_offer(p_workspace_id, p_capacity || terms);
    if v_price.problem is not null then
      select string_agg(d, ', ') into v_durations
        from jsonb_array_elements_text(billing.draft_choices(p_workspace_id, p_capacity) -> 'durations') d;
      problems := problems || jsonb_build_object('duration_days', case
        when v_price.offer is null and v_price.problem !~ '^There is no price' then v_price.problem
        when v_days = '' then 'Enter the number of days: the price depends on it.'
        else format('There is no price for %s days.', v_days) end || coalesce(' Prices are for: ' || v_durations || ' days.', ''));
    end if;
  end if;
end
$$;
comment on function billing.check_time(text, jsonb, jsonb) is 'When and for how long, as it is kept, and what is wrong with it.';
