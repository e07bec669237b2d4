x = 2
y = lost  #! F821 lost = carried
z = lost + fresh  #! F821 lost = same_symbol #! F821 fresh = new
