; Adds to v1 for ever: what the README assembles.
top:
  v_add_f32 v1, v2, v3
  s_branch top
