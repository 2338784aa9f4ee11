-- The price of a draft's terms, or why there is none, in words for the visitor.
create or replace function billing.draft_offer(p_workspace_id text, p_terms jsonb, out offer jsonb, out problem text)
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
begin
  offer := capacity.offer_for(p_workspace_id, p_terms ->> 'size', (p_terms ->> 'quantity')::integer, p_terms ->> 'region',
                              (p_terms ->> 'duration_days')::integer);
  if offer is null then
    problem := 'There is no price for this combination, so it cannot be ordered here.';
  end if;
exception when sqlstate 'PT400' then
  -- More than one payment may charge.
  problem := sqlerrm;
end
$$;
comment on function billing.draft_offer(text, jsonb) is 'The price of a draft''s terms, or why there is none. Nullable: offer, problem.';
