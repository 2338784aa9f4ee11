-- Posts a notice about the customer's answer, unless another sweep has posted it since p_since. A failure is recorded
-- for the request under the notice's kind, and stops no other request.
create or replace function capacity.timer_notice(
  p_request capacity.requests, p_kind text, p_since timestamptz, p_failed_before boolean, out said integer, out failed jsonb
)
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
begin
  said := 0;
  failed := '[]';
  if not exists (select from capacity.notices n where n.request_id = p_request.id and n.kind = p_kind and n.created_at >= p_since) then
    perform capacity.post_notice(p_request, p_kind, 'confirmation', null, capacity.timer_actor(), null);
    said := 1;
  end if;
  if p_failed_before then
    delete from capacity.timer_failures f where f.request_id = p_request.id and f.timer = p_kind;
  end if;
exception when others then
  said := 0;
  failed := jsonb_build_array(capacity.timer_failed(p_request.id, p_kind, sqlstate, sqlerrm));
end
$$;
comment on function capacity.timer_notice(capacity.requests, text, timestamptz, boolean)
  is 'Posts a notice of a timer once, and returns what failed.';
