-- Whether a text shows nothing: it is missing, or consists of spaces and invisible characters.
create or replace function notify.is_blank(p_text text) returns boolean
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
begin
  return coalesce(p_text ~ concat('^[\s\u0001-\u001f\u007f-\u00a0\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2000-\u200f',
                                  '\u2028-\u202f\u205f-\u206f\u2800\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0\U000e0000-\U000e0fff]*$'), true);
end
$$;
comment on function notify.is_blank(text) is 'Whether a text shows nothing. Nullable: p_text.';
