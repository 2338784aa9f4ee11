-- Where a lower layer causes something above it: it declares a point, and upper layers register a function there. Without this, a lower
-- layer would have to name what stands above, and could not be installed alone.
create table headroom.hook_points (
  point text primary key check (point ~ '^[a-z]+\.[a-z_]+$'),
  layer text not null,
  meaning text not null
);
comment on table headroom.hook_points is 'Points at which upper layers may join in, declared by the layer that runs them.';

create table headroom.hooks (
  point text not null references headroom.hook_points on delete cascade,
  layer text not null,
  function_name text not null check (function_name ~ '^[a-z_]+\.[a-z_]+$'),
  primary key (point, layer)
);
comment on table headroom.hooks is 'Functions (jsonb) returns jsonb that upper layers registered. Written by the migrator alone.';
