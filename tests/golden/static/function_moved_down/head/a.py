def second():
    a = 1
    b = 2
    c = 3
    return a + b + c + fresh  #! F821 fresh = new


def first():
    return lost  #! F821 lost = moved
