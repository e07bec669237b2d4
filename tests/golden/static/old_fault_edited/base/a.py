def f():
    return gone(1)  #! F821 gone
