# moved down
f = 1
f = 2  #! F811 f = carried | redefinition of f from line 2
