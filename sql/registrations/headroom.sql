-- The points where layers above may add functions.
select headroom.declare_hooks('headroom', '{
  "headroom.secret_removed": "A secret is about to be removed: {name}. A layer that still needs it refuses."
}');
