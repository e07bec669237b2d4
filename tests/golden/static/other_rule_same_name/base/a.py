def f():
    return lost()  #! F821 lost
