-- A row of buttons about one thing, whose id is their value. Each button is `[action, label, spoken, style]`; null buttons are left out.
-- The label for screen readers is the words on the button and then `spoken`, so that voice control finds it; `$id` in it is the id.
create or replace function notify.slack_buttons(p_block_id text, p_id text, variadic p_buttons jsonb[]) returns jsonb
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
declare
  v_id text := left(p_id, 30);
  v_button jsonb;
  v_elements jsonb := '[]';
begin
  foreach v_button in array p_buttons loop
    if v_button is not null then
      v_elements := v_elements || jsonb_strip_nulls(jsonb_build_object(
        'type', 'button', 'action_id', v_button ->> 0, 'value', v_id, 'text', notify.slack_plain(v_button ->> 1),
        'accessibility_label', left((v_button ->> 1) || replace(v_button ->> 2, '$id', v_id), 75), 'style', v_button ->> 3));
    end if;
  end loop;
  return jsonb_build_object('type', 'actions', 'block_id', p_block_id, 'elements', v_elements);
end
$$;
comment on function notify.slack_buttons(text, text, jsonb[]) is 'A row of buttons of Block Kit.';
