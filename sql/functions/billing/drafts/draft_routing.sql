-- What would happen to an order with these terms: approved immediately, or reviewed, and by which sides; `problem` if nobody could approve
-- it. Visitors see only the side, not who reviews.
create or replace function billing.draft_routing(p_workspace_id text, p_terms jsonb, p_offer jsonb) returns jsonb
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_plan jsonb;
begin
  v_plan := capacity.review_plan(p_workspace_id, billing.wizard_requester(p_workspace_id), null, null, p_terms ->> 'size',
                                 (p_terms ->> 'quantity')::integer, p_terms ->> 'region', (p_offer ->> 'monthly_usd')::numeric);
  return jsonb_build_object('reviews', to_jsonb(array(
    select s.side from unnest('{commercial,technical}'::text[]) with ordinality s(side, n)
     where v_plan -> s.side -> 'auto' <> 'true' order by s.n)));
exception when sqlstate 'PT422' or sqlstate 'PT400' then
  return jsonb_build_object('reviews', '[]'::jsonb, 'problem',
    'This cannot be ordered here at the moment, because nobody could approve it.');
end
$$;
comment on function billing.draft_routing(text, jsonb, jsonb) is 'Which sides would review an order with these terms.';
