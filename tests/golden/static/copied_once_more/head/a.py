def f():
    return lost  #! F821 lost = carried


def g():
    return lost  #! F821 lost = same_symbol
