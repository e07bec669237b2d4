def f():
    return gone(2)  #! F821 gone = same_symbol
