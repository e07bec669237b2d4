"""What a customer is about to buy. Prices are in cents."""


class Basket:
    def __init__(self):
        self.lines = []

    def add(self, name, price, count=1):
        if price < 0 or count < 1:
            raise ValueError("a price is not negative and a count is at least one")
        self.lines.append((name, price, count))

    def total(self):
        """The sum of all lines, in cents."""
        return sum(price * count for _, price, count in self.lines)
