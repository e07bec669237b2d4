a = 1
b = lost  #! F821 lost = same_symbol
c = 2
