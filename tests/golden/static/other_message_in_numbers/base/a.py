f = 1
f = 2  #! F811 f | redefinition of f from line 1
