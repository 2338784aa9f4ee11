-- Step 1 of the wizard: size, region and quantity as they are kept, and what is wrong with each. The values come from a form, so they may
-- be anything.
create or replace function billing.check_capacity(p_workspace_id text, p_values jsonb, out terms jsonb, out problems jsonb)
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_choices jsonb := billing.draft_choices(p_workspace_id, '{}');
  v_size text := btrim(p_values ->> 'size');
  v_region text := lower(btrim(p_values ->> 'region') collate "C");
  v_quantity text := btrim(p_values ->> 'quantity');
  v_known text;
  v_least bigint;
begin
  problems := '{}';
  select s into v_known from jsonb_array_elements_text(v_choices -> 'sizes') s where upper(s collate "C") = upper(v_size collate "C");
  if v_known is null then
    problems := problems || jsonb_build_object('size', case
      when v_choices -> 'sizes' = '[]' then 'Nothing has a price at the moment, so nothing can be ordered here.'
      when coalesce(v_size, '') = '' then 'Choose a size.' else 'This size has no price. Choose one of the list.' end);
  end if;
  if coalesce(v_region, '') = '' then
    problems := problems || '{"region": "Enter a region."}';
  elsif v_region !~ '^[a-z0-9-]{2,32}$' then
    problems := problems || '{"region": "A region has 2 to 32 lower-case letters, digits and dashes, such as us-east-1."}';
  elsif v_known is not null then
    select min(p.unit_amount) into v_least from billing.prices p
     where p.workspace_id = p_workspace_id and upper(p.size collate "C") = upper(v_known collate "C")
       and (p.region is null or p.region = v_region)
       and p.valid_from <= now() and p.withdrawn_at is null;
    if v_least is null then
      problems := problems || jsonb_build_object('region', 
        format('%s has no price in %s. Choose another region or size.', v_known, v_region));
    end if;
  end if;
  if coalesce(v_quantity, '') = '' then
    problems := problems || '{"quantity": "Enter a quantity."}';
  elsif v_quantity !~ '^[0-9]{1,6}$' or v_quantity::integer not between 1 and 10000 then
    problems := problems || '{"quantity": "Give a whole number from 1 to 10000."}';
  end if;
  terms := jsonb_build_object('size', coalesce(v_known, v_size), 'region', v_region,
                              'quantity', case when problems ? 'quantity' then to_jsonb(v_quantity) else to_jsonb(v_quantity::integer) end);
end
$$;
comment on function billing.check_capacity(text, jsonb) is 'What a visitor wants to order, as it is kept, and what is wrong with it.';
