import os  #! F401 os
x = 1
