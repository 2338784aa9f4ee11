-- Fills in a template, a strict subset of Mustache: {{name}} is a value, {{#name}}…{{/name}} is kept if there is such a value and
-- {{^name}}…{{/name}} if there is none. Sections do not nest, and a section tag alone on its line removes that line. A paragraph that
-- is left empty disappears.
--
-- It goes from left to right once, so a value is never read as a tag. It refuses nothing, because a decision must not fail because of the
-- message about it: notify.template_problem() reports what is wrong with a template before it is stored. It stops after p_most characters,
-- because nobody is shown more.
create or replace function notify.fill(p_template text, p_values jsonb, p_most integer) returns text
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
declare
  v_pieces text[] := string_to_array(coalesce(p_template, ''), '{{');
  v_filled text := coalesce(v_pieces[1], '');
  v_before text := E'\n' || v_filled;
  v_piece text;
  v_rest text;
  v_kind text;
  v_end integer;
  v_shown boolean := true;
begin
  foreach v_piece in array v_pieces[2:] loop
    v_end := strpos(v_piece, '}}');
    if v_end = 0 then
      v_filled := v_filled || '{{' || v_piece;
      exit;
    end if;
    v_rest := substr(v_piece, v_end + 2);
    v_kind := left(v_piece, 1);
    if v_kind in ('#', '^', '/') then
      v_shown := v_kind = '/' or (coalesce(p_values ->> substr(v_piece, 2, v_end - 2), '') <> '') = (v_kind = '#');
      if v_shown then
        v_filled := v_filled || case when v_rest like E'\n%' and v_before like E'%\n' then substr(v_rest, 2) else v_rest end;
      end if;
    elsif v_shown then
      v_filled := v_filled || coalesce(p_values ->> left(v_piece, v_end - 1), '') || v_rest;
    end if;
    v_before := v_rest;
    exit when octet_length(v_filled) > 4 * p_most;
  end loop;
  if v_filled ~ '\n[ \t]*\n[ \t]*\n' then
    v_filled := regexp_replace(v_filled, '\n(?:[ \t]*\n){2,}', E'\n\n', 'g');
  end if;
  return btrim(v_filled, E' \t\n');
end
$$;
comment on function notify.fill(text, jsonb, integer) is 'A template with its values. Nullable: p_template, p_values.';
