-- Blocks as Slack takes them: no null blocks, no more blocks than a message (50) or a form (100) may have, and about 13,000 characters of
-- text in all. Renderers cut each text to its share of that. If it is too much all the same, a block that does not fit is left out, and the
-- rest is sent with its buttons.
create or replace function notify.slack_blocks(p_blocks jsonb, p_max_blocks integer) returns jsonb
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
declare
  v_blocks jsonb := jsonb_path_query_array(p_blocks, '$[*] ? (@ != null)');
  v_block jsonb;
  v_units integer;
  v_left integer := 13000;
  v_kept jsonb := '[]';
begin
  if jsonb_array_length(v_blocks) <= p_max_blocks and octet_length(v_blocks::text) <= v_left then
    return v_blocks;
  end if;
  for v_block in select b.value from jsonb_array_elements(v_blocks) b loop
    select coalesce(sum(notify.units(t.value #>> '{}')), 0) into v_units
      from jsonb_path_query(v_block, 'strict $.**.text ? (@.type() == "string")') t(value);
    if v_units <= v_left and jsonb_array_length(v_kept) < p_max_blocks then
      v_kept := v_kept || jsonb_build_array(v_block);
      v_left := v_left - v_units;
    end if;
  end loop;
  return v_kept;
end
$$;
comment on function notify.slack_blocks(jsonb, integer) is 'Blocks within Slack''s limits.';
