-- A settle also says which rows it gave up, so that a relay can tell people without judging again. What returns more than before
-- has to be made anew.
drop function if exists outbox.settle(
  smallint, bigint[], bigint[], bigint[], uuid[], integer[], integer[], text[], text[], text[], text[], bigint[], boolean[], boolean[], integer[], jsonb);
drop function if exists outbox.settle_lane_exceptions(
  outbox.streams, bigint[], bigint[], bigint[], uuid[], integer[], integer[], text[], text[], text[], bigint[], boolean[]);
drop function if exists outbox.settle_row_exceptions(
  outbox.streams, bigint[], uuid[], integer[], integer[], text[], text[], text[], bigint[], boolean[]);
