x = lost  #! F821 lost
