"""A new file with other things in it."""

import collections


class Thing(collections.OrderedDict):
    def f(self):
        return lost  #! F821 lost = moved
