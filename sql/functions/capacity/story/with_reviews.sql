-- A story with the state of the reviews added: who approved each, or at most ten of those who are asked.
create or replace function capacity.with_reviews(p_story jsonb, p_request capacity.requests) returns jsonb
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
declare
  v_asked jsonb := p_story -> 'asked';
begin
  return p_story || jsonb_build_object(
    'requester', p_request.requester_user_id,
    'people', (select coalesce(jsonb_object_agg(a ->> 'id', jsonb_build_object('name', a -> 'name', 'slack', a -> 'slack')), '{}')
                 from jsonb_array_elements(v_asked) a) || (p_story -> 'people'),
    'commercial', jsonb_build_object(
      'by', p_request.commercial_approved_by, 'at', extract(epoch from p_request.commercial_approved_at),
      'endorsed_by', p_request.commercial_endorsed_by, 'auto', p_request.review_plan #> '{commercial,auto}',
      'asked', jsonb_path_query_array(jsonb_path_query_array(v_asked, '$[*] ? (@.step == "commercial").id'), '$[0 to 9]')),
    'technical', jsonb_build_object(
      'by', p_request.technical_approved_by, 'at', extract(epoch from p_request.technical_approved_at),
      'auto', p_request.review_plan #> '{technical,auto}',
      'asked', jsonb_path_query_array(jsonb_path_query_array(v_asked, '$[*] ? (@.step == "technical").id'), '$[0 to 9]')));
end
$$;
comment on function capacity.with_reviews(jsonb, capacity.requests) is 'A story with the state of its request''s reviews.';
