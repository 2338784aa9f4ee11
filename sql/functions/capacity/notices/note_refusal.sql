-- Why a member may not add another note to a request now, or null.
create or replace function capacity.note_refusal(p_request capacity.requests, p_member_id text) returns headroom.refusal
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_again timestamptz := (
    select n.created_at + interval '10 minutes' from capacity.notices n
     where n.request_id = p_request.id and n.kind = 'note' and n.actor_id = p_member_id
     order by n.created_at desc offset 19 limit 1);
begin
  if v_again > clock_timestamp() then
    return row('too_soon', 'You can add at most 20 notes to a request in ten minutes.',
               format('again in %s seconds', ceil(extract(epoch from v_again - clock_timestamp()))),
               'Put it into one note, or wait a little. Nothing was written.')::headroom.refusal;
  end if;
  return null;
end
$$;
comment on function capacity.note_refusal(capacity.requests, text) is 'Why a member may not add a note now. Nullable: result.';
