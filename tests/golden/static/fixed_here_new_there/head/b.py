y = fresh  #! F821 fresh = new
