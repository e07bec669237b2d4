x = 1
y = fresh  #! F821 fresh = new
