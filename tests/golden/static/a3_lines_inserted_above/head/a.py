# one
# two
# three
import os  #! F401 os = carried
x = 1
