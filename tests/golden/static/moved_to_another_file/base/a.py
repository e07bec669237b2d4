def f():
    return lost  #! F821 lost


def g():
    return 1
