a = 1
b = 2
c = lost  #! F821 lost
