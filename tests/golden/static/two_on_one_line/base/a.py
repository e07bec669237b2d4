x = 1
y = lost  #! F821 lost
