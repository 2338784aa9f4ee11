-- Deletes expired drafts, and the count of their mails. A draft that is being sent right now is left for the next time. Returns how many
-- were deleted.
create or replace function billing.forget_drafts(p_most integer default 1000) returns integer
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_count integer;
begin
  delete from billing.drafts d where d.id in (
    select o.id from billing.drafts o where o.expires_at <= clock_timestamp() order by o.expires_at limit p_most for update skip locked);
  get diagnostics v_count = row_count;
  delete from billing.draft_mails m where m.id in (
    select o.id from billing.draft_mails o where o.asked_at <= clock_timestamp() - interval '1 day' order by o.asked_at limit p_most);
  return v_count;
end
$$;
comment on function billing.forget_drafts(integer) is 'Deletes drafts that have expired, and counts them.';
