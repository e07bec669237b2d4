"""Words that make the file long enough to be known again after a change of one line."""

LIST = [1, 2, 3]


def f():
    return lost  #! F821 lost
